import { expect, test } from 'vitest';
import type { ClauseResult } from '../types.ts';
import { failureBlocks } from './failures.ts';
import { type HumanOptions, humanReporter } from './human.ts';
import { clauseLine, countsOf, layoutOf } from './lines.ts';
import { aReport, judged, variety } from './samples.ts';
import { duration, fit, styleOf, visible, widthOf } from './style.ts';
import { timingLines } from './timings.ts';

const selected = variety.map(({ clause }) => ({ clause, specs: [], leftOut: [] }));
const style = styleOf(false);
const layout = (width: number, lang: 'en' | 'vi' = 'en') =>
  layoutOf(selected, { lang, style, width });
const clause = (id: string): ClauseResult => {
  const found = variety.find((one) => one.clause.id === id);
  if (found === undefined) throw new Error(id);
  return found;
};

function print(wanted: Partial<HumanOptions> = {}, results = variety): string {
  let text = '';
  const reporter = humanReporter({
    write: (more) => (text += more),
    color: false,
    width: 100,
    lang: 'en',
    quiet: false,
    verbose: false,
    timings: false,
    heading: 'dieu-45 1.0 · 6 checks',
    reproduce: (id) => `./scripts/dieu45 gate --only ${id} --seed 7`,
    ...wanted,
  });
  reporter.onEvent({
    is: 'selected',
    clauses: results.map((one) => ({ clause: one.clause, specs: [], leftOut: [] })),
  });
  for (const result of results) {
    for (const check of result.checks) reporter.onEvent({ is: 'check_done', result: check });
    reporter.onEvent({ is: 'clause_done', result });
  }
  reporter.end(aReport(results));
  return text;
}

test('a clause takes one line: symbol, label, title, status, counts', () => {
  expect(clauseLine(clause('s1'), layout(100))).toBe(
    '✓ §1    First  passed          1 check · 1 assertion · 0.0 s',
  );
  expect(clauseLine(clause('s9'), layout(100))).toBe(
    '○ §9    First  not reviewed    1 check · 1 planned',
  );
  expect(clauseLine(clause('s12'), layout(100))).toContain('no check');
});

test('in Vietnamese, composed letters keep the columns straight', () => {
  const lines = ['s1', 's8.3'].map((id) => clauseLine(clause(id), layout(100, 'vi')));
  expect(lines[0]).toContain('Điều thứ nhất  đạt');
  expect(lines[1]).toContain('Hợp đồng thuê  vi phạm');
});

test.each([100, 60, 40, 25, 12, 3])('no line is wider than a terminal of %i columns', (width) => {
  for (const result of variety)
    for (const lang of ['en', 'vi'] as const)
      expect(widthOf(clauseLine(result, layout(width, lang)))).toBeLessThanOrEqual(width);
});

test('checks that shared one execution count its time once', () => {
  const [check] = clause('s1').checks;
  if (check === undefined) throw new Error('no check');
  const twice = {
    ...clause('s1'),
    checks: [check, check].map((one) => ({ ...one, elapsedMs: 900 })),
  };
  expect(countsOf(twice, 'en')).toBe('2 checks · 2 assertions · 0.9 s');
});

test('a failure shows the clause, both sides, the trace, the places, and how to see it again', () => {
  expect(print()).toContain(
    `✗ s8.3.reaped  failed
  §8.3 Lease · A killed worker loses its lease
  reaped in time
    expected    <= 5 s & "quick"
    seen        7 s \\u001b[31m# \`\`\`red\`\`\` | ]]>\\u0000
    trace       09:00:00 killed
                09:00:07 reaped
    at          selftest/timed/lease.yaml:4:2
    stated at   selftest/dieu45.yaml:1:1
    reproduce   ./scripts/dieu45 gate --only s8.3.reaped --seed 7
`,
  );
});

test('unknown and error show their reasons, and a clause without a check is named', () => {
  const text = print();
  expect(text).toContain('? s8.3.renewed  unknown');
  expect(text).toContain('  too little was observed: kills is 0, not 4\n');
  expect(text).toContain('! s8.3.broken  error');
  expect(text).toContain('! §12 First\n  the manifest gives this clause no check');
});

test('a waived failure is not told as one', () => {
  expect(print()).not.toContain('s10.x');
});

test('the very last line counts checks', () => {
  expect(print()).toMatch(/\n1 passed, 3 failed, 2 skipped\n$/);
  expect(print({ timings: true, verbose: true })).toMatch(/\n1 passed, 3 failed, 2 skipped\n$/);
});

test('quiet prints only failures and the last line', () => {
  const green = [judged([{ is: 'assertion', name: 'it holds', ok: true }])];
  expect(print({ quiet: true }, green)).toBe('1 passed, 0 failed, 0 skipped\n');
  expect(print({ quiet: true })).toContain('✗ s8.3.reaped');
});

test('verbose prints a line a check, and every broken assertion', () => {
  const many = [
    judged([...Array(9).keys()].map((n) => ({ is: 'assertion', name: `a${n}`, ok: false }))),
  ];
  expect(print({}, many)).toMatch(/a4\n.*… 4 more broken assertions/s);
  expect(print({}, many)).not.toContain('a5');
  expect(print({ verbose: true }, many)).toContain('a8');
  expect(print({ verbose: true })).toContain('  ✗ s8.3.reaped  failed\n');
});

test('colours are there when wanted, and no escape is there when not', () => {
  expect(print({ color: true })).toContain('\u001b[31m✗\u001b[39m §8.3');
  expect(print()).not.toContain('\u001b');
});

test('a text from elsewhere brings no control character to the terminal', () => {
  expect(visible('a\u001b[2J\r\u202eb\tc\nd')).toBe('a\\u001b[2J\\u000d\\u202eb\\u0009c\nd');
});

test('a check that failed for a reason that no assertion tells says that reason', () => {
  const [bound] = failureBlocks(
    aReport([
      judged([
        { is: 'assertion', name: 'it holds', ok: true },
        { is: 'measure', name: 'wait', value: 9, unit: 'ms', bound: [0, 5], uncertainty: 0 },
      ]),
    ]),
    { lang: 'en', style, most: 5 },
  );
  expect(bound).toContain('  wait is 9 ± 0 ms; the bound is 0 to 5 ms\n');
});

test.each([
  ['đường', 3, 'đư…'],
  ['ab', 4, 'ab  '],
  ['e\u0302\u0301a', 2, 'e\u0302\u0301a'],
  ['abc', 0, ''],
])('%s in %i columns', (text, columns, fitted) => {
  expect(fit(text, columns)).toBe(fitted);
});

test.each([
  [80, '0.1 s'],
  [59_940, '59.9 s'],
  [185_000, '3 min 5 s'],
])('%i ms reads %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test('timings are a line a span in order of start, with a bar in proportion', () => {
  const lines = timingLines([
    { what: 'late', fromMs: 500, toMs: 1000 },
    { what: 'first', fromMs: 0, toMs: 500 },
  ]);
  expect(lines).toEqual([
    `   0.00 s    0.50 s  ${'█'.repeat(20)}${' '.repeat(20)}  first`,
    `   0.50 s    0.50 s  ${' '.repeat(20)}${'█'.repeat(20)}  late`,
  ]);
});
