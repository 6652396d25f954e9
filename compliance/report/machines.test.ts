import { validateStrict } from 'ctrf';
import { Parser } from 'tap-parser';
import { expect, test } from 'vitest';
import { convert } from 'xmlbuilder2';
import { toCtrf } from './ctrf.ts';
import { toJson } from './json.ts';
import { toJunit } from './junit.ts';
import { toMarkdown } from './md.ts';
import type { Report } from './report.ts';
import { aReport } from './samples.ts';
import { toTap } from './tap.ts';

const report = aReport();

test('what varies between two runs stands under run and measured alone', () => {
  const other: Report = {
    ...report,
    run: { ...report.run, seed: 8, elapsedMs: 1, startedAt: '2027-01-01T00:00:00.000Z' },
    measured: {},
  };
  const stable = stableOf(report);
  expect(stableOf(other)).toEqual(stable);
  expect(JSON.stringify(stable)).not.toContain('elapsedMs');
});

function stableOf(one: Report): Record<string, unknown> {
  const written = JSON.parse(toJson(one)) as Record<string, unknown>;
  const varying = new Set(['run', 'measured']);
  return Object.fromEntries(Object.entries(written).filter(([key]) => !varying.has(key)));
}

test('the report keeps evidence, counts and measures, and says its exit code', () => {
  expect(report.exit).toEqual({ code: 1, meaning: 'at least one clause failed' });
  expect(report.totals).toEqual({ passed: 1, failed: 3, skipped: 2 });
  expect(report.measured['s8.3.reaped']).toMatchObject({
    counts: { kills: 4 },
    measures: [{ name: 'to reaped', value: 7000, bound: [0, 5000] }],
  });
  expect(report.clauses[1]?.checks[0]?.files).toEqual([
    { name: 'history.jsonl', path: 'evidence/s8.3.reaped/history.jsonl' },
  ]);
});

type Element = Record<string, unknown>;

test('JUnit counts what is not green, gives every failure a text, and keeps skipped messages', () => {
  const xml = toJunit(report);
  const { testsuites } = convert(xml, { format: 'object' }) as { testsuites: Element };
  expect(testsuites).toMatchObject({
    '@tests': '7',
    '@failures': '1',
    '@errors': '3',
    '@skipped': '2',
    '@name': 'dieu-45 1.0',
  });
  expect(xml).toContain('<skipped message="not reviewed: comes with explore # 5"/>');
  expect(xml).toContain('<skipped message="failed: known"/>');
  expect(xml).toMatch(/<error message="unknown: too little[^>]*type="unknown">[^<]*kills/);
  expect(xml).toMatch(/<failure message="failed: reaped in time[^>]*>[^<]*09:00:07 reaped/);
  expect(xml).toMatch(/<error [^>]*>the manifest gives this clause no check</);
  expect(xml).not.toMatch(/<(failure|error)[^>]*\/>/);
});

test('JUnit holds no character that XML forbids', () => {
  expect(toJunit(report)).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
});

test('CTRF is valid to its own validator, and nothing that is not green passes in it', () => {
  const ctrf: unknown = JSON.parse(toCtrf(report));
  validateStrict(ctrf);
  const { summary, tests } = ctrf.results;
  expect(summary).toMatchObject({ tests: 7, passed: 1, failed: 4, skipped: 2 });
  expect(tests.map(({ rawStatus }) => rawStatus)).toEqual([
    'passed',
    'failed',
    'unknown',
    'error',
    'not_reviewed',
    'waived',
    'error',
  ]);
});

test('TAP is read by a TAP parser with the same counts', () => {
  const { results } = readTap(toTap(report));
  expect(results).toMatchObject({ ok: false, count: 7, pass: 3, fail: 4, skip: 2, bailout: false });
  expect(results?.failures[0]?.diag).toMatchObject({ status: 'failed' });
  expect(results?.plan.end).toBe(7);
});

test('TAP of a run that judged nothing is not ok', () => {
  expect(readTap(toTap(aReport([]))).results?.ok).toBe(false);
});

function readTap(text: string) {
  const parser = new Parser();
  parser.end(text);
  return parser;
}

test('Markdown has a row a clause, the failures, and the last line', () => {
  const markdown = toMarkdown(report);
  expect(markdown).toContain('## dieu-45 1.0: at least one clause failed');
  expect(markdown).toContain('| ✗ | §8.3 | Lease | failed | 0 of 3 passed |');
  expect(markdown).toContain('**1 passed, 3 failed, 2 skipped**');
  expect(markdown).toContain('<summary>s8.3.reaped: failed: reaped in time; expected &lt;= 5 s');
  // A fence inside the text must not end the block.
  expect(markdown).toContain('\n````text\n');
});

test('Markdown stays below its limit and says that it was cut', () => {
  const short = toMarkdown(report, 1500);
  expect(Buffer.byteLength(short)).toBeLessThan(1500);
  expect(short).toContain('the JSON report has everything');
});
