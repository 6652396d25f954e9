import { expect, test } from 'vitest';
import type { TapTest } from '../checks/pgtap/tap.ts';
import { toJunit } from './junit.ts';
import { countsOf, isGreen, outcomeOfFile, provedNothing, type FileResult } from './result.ts';
import { toTap } from './tap.ts';
import { fileLines, lastLine, lookOf } from './text.ts';

const at = { file: 'a.sql', line: 7, col: 1 };
const passing: TapTest = { id: 1, name: 'one', ok: true, at, diagnostics: [] };
const failing: TapTest = {
  id: 2,
  name: 'two < three',
  ok: false,
  at,
  diagnostics: ['Failed test 2: "two < three"', '        have: 2', '        want: 3'],
};
const todo: TapTest = { ...failing, id: 3, excused: { as: 'todo', reason: 'later' } };
const skipped: TapTest = { ...passing, id: 4, excused: { as: 'skip', reason: 'no time' } };

function result(more: Partial<FileResult>): FileResult {
  return { file: 'a.sql', tests: [passing], problems: [], output: [], elapsedMs: 1200, ...more };
}

test.each([
  ['all passed', result({}), 'passed', true],
  ['one failed', result({ tests: [passing, failing] }), 'failed', false],
  ['a failing TODO beside what passed', result({ tests: [passing, todo] }), 'passed', true],
  ['a broken plan', result({ problems: ['the plan is short'] }), 'failed', false],
  ['a file that skipped itself', result({ tests: [], skipped: 'why' }), 'skipped', false],
  ['only skipped tests', result({ tests: [skipped] }), 'passed', false],
  ['no test at all', result({ tests: [] }), 'passed', false],
])('%s', (_, file, outcome, green) => {
  expect(outcomeOfFile(file)).toBe(outcome);
  expect(isGreen([file])).toBe(green);
});

test('a run in which everything was skipped proved nothing; one that failed did prove something', () => {
  expect(provedNothing([result({ tests: [skipped] }), result({ tests: [], skipped: '' })])).toBe(
    true,
  );
  expect(provedNothing([result({ tests: [failing] })])).toBe(false);
  expect(provedNothing([])).toBe(true);
});

test('tests, problems and skipped files are counted', () => {
  const results = [
    result({ tests: [passing, failing, todo, skipped], problems: ['one', 'two'] }),
    result({ tests: [], skipped: 'why' }),
  ];
  expect(countsOf(results)).toEqual({ passed: 1, failed: 3, skipped: 3 });
  expect(lastLine(results, 61_000)).toBe(
    '7 tests in 2 files: 1 passed, 3 failed, 3 skipped · 1 min 1 s',
  );
  expect(lastLine([result({})], 100)).toBe(
    '1 test in 1 file: 1 passed, 0 failed, 0 skipped · 0.1 s',
  );
});

test('a failed test is shown with its place, what was expected and what was seen', () => {
  const lines = fileLines(
    result({ tests: [passing, failing], problems: ['the plan is short'] }),
    lookOf(false, 80, false),
  );
  expect(lines).toEqual([
    '✗ a.sql  1 of 2 tests failed · 1.2 s',
    '    ✗ 2 two < three',
    '      a.sql:7',
    '      expected 3',
    '      seen     2',
    '    the plan is short',
  ]);
});

test('verbose shows every test, and an excuse with its reason', () => {
  expect(fileLines(result({ tests: [passing, todo, skipped] }), lookOf(false, 80, true))).toEqual([
    '✓ a.sql  3 tests · 1.2 s',
    '    ✓ 1 one',
    '    – 3 two < three # TODO later',
    '    – 4 one # SKIP no time',
  ]);
});

test('a control character in a value reaches no terminal', () => {
  const nasty = { ...failing, diagnostics: ['        have: \u001b[2J', '        want: x'] };
  expect(fileLines(result({ tests: [nasty] }), lookOf(false, 80, false)).join('\n')).not.toContain(
    '\u001b',
  );
});

test('TAP has a subtest a file, without the rows of fixtures', () => {
  const output = ['1..2', 'a row', 'ok 1 - one', 'not ok 2 - two', '# Failed'];
  const tap = toTap([
    result({ tests: [passing, failing], output, problems: ['broke\noff'] }),
    result({ tests: [], skipped: 'why' }),
  ]);
  expect(tap).toBe(
    [
      'TAP version 14',
      '1..2',
      '# Subtest: a.sql',
      '    1..2',
      '    ok 1 - one',
      '    not ok 2 - two',
      '    # Failed',
      'not ok 1 - a.sql',
      '# broke',
      '# off',
      '# Subtest: a.sql',
      'ok 2 - a.sql # SKIP why',
      '',
    ].join('\n'),
  );
});

test('JUnit has a text in every failure, and a case for what concerns the file', () => {
  const xml = toJunit([
    result({ tests: [passing, failing, skipped], problems: ['broke'] }),
    result({ tests: [], skipped: 'why' }),
  ]);
  expect(xml).toContain(
    '<testsuites name="pgtap-runner" tests="5" failures="1" errors="1" skipped="2" time="2.400">',
  );
  expect(xml).toContain('<failure message="two &lt; three" type="failed">a.sql:7\nFailed test 2');
  expect(xml).toContain('<skipped message="no time"/>');
  expect(xml).toContain('<error message="broke" type="error">broke</error>');
  expect(xml).toContain('<skipped message="why"/>');
});
