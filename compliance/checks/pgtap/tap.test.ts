import { expect, test } from 'vitest';
import { tapReader, type TapReport } from './tap.ts';

/** Reads TAP, a line at a line of the file of the same number. */
function read(...lines: string[]): TapReport {
  const reader = tapReader();
  lines.forEach((text, i) => {
    reader.line(text, { file: 'a.sql', line: i + 1, col: 1 });
  });
  return reader.end();
}

test('each test knows the statement that printed it, and what was said about it', () => {
  const { tests, planned, problems } = read(
    '1..2',
    'not ok 1 - s1: one \\# two',
    '# Failed test 1: "s1: one"',
    '#         have: 1',
    'a row of a fixture',
    'ok 2 - s2: three',
    '# Looks like you failed 1 test of 2',
  );
  expect({ planned, problems }).toEqual({ planned: 2, problems: [] });
  expect(tests).toEqual([
    {
      id: 1,
      name: 's1: one # two',
      ok: false,
      at: { file: 'a.sql', line: 2, col: 1 },
      diagnostics: ['Failed test 1: "s1: one"', '        have: 1'],
    },
    { id: 2, name: 's2: three', ok: true, at: { file: 'a.sql', line: 6, col: 1 }, diagnostics: [] },
  ]);
});

test.each([
  ['no output', [], ['there is no plan: 0 tests ran, and nobody said how many should']],
  ['no plan', ['ok 1 - a'], ['there is no plan: 1 test ran, and nobody said how many should']],
  ['a short plan', ['1..2', 'ok 1 - a'], ['the plan is short: 2 tests planned, 1 ran']],
  ['a long run', ['1..1', 'ok 1 - a', 'ok 2 - b'], ['the plan is exceeded: 1 test planned, 2 ran']],
  [
    'a plan of nothing, but tests',
    ['1..0', 'ok 1 - a'],
    ['the plan is exceeded: 0 tests planned, 1 ran'],
  ],
  ['bail out', ['1..1', 'ok 1 - a', 'Bail out! lost'], ['bailed out: lost']],
  [
    'a number twice',
    ['1..2', 'ok 1 - a', 'ok 1 - b'],
    ['test 2 is numbered 1: something else prints lines that look like TAP'],
  ],
])('%s is a problem', (_, lines, problems) => {
  expect(read(...lines).problems).toEqual(problems);
});

test.each([
  ['ok 1 - a # SKIP why', { as: 'skip', reason: 'why' }, true],
  ['not ok 1 - a # TODO why', { as: 'todo', reason: 'why' }, false],
  ['ok 1 - a # todo', { as: 'todo', reason: '' }, true],
])('%s is excused, which is neither passed nor failed', (line, excused, ok) => {
  expect(read('1..1', line)).toMatchObject({ tests: [{ excused, ok }], problems: [] });
});

test('a plan of nothing says so, with the reason', () => {
  expect(read('1..0 # SKIP why')).toMatchObject({
    skippedAll: 'SKIP why',
    tests: [],
    problems: [],
  });
  expect(read('1..0')).toMatchObject({ skippedAll: '' });
  expect(read('1..1', 'ok 1 - a').skippedAll).toBeUndefined();
});

test('a plan at the end is told from one at the start', () => {
  expect(read('ok 1 - a', '1..1')).toMatchObject({ planCameLast: true, problems: [] });
  expect(read('1..1', 'ok 1 - a')).toMatchObject({ planCameLast: false, problems: [] });
});

test('the tests of a subtest belong to the test that closes it', () => {
  const { tests, problems } = read(
    '1..1',
    '    # Subtest: x',
    '    ok 1 - inner',
    '    1..1',
    'ok 1 - x',
  );
  expect(problems).toEqual([]);
  expect(tests.map(({ name, at }) => `${name}@${at.line}`)).toEqual(['x@5']);
});
