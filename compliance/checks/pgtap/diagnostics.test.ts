import { expect, test } from 'vitest';
import { readDiagnostics } from './diagnostics.ts';

test.each([
  [
    'is',
    ['Failed test 1: "x"', '        have: 1', '        want: 2'],
    { seen: '1', expected: '2', trace: [] },
  ],
  [
    'is, with lines',
    ['        have: a', 'b', '        want: c'],
    { seen: 'a\nb', expected: 'c', trace: [] },
  ],
  [
    'throws_ok',
    ['      caught: 22012: division by zero', '      wanted: 42P01'],
    { seen: '22012: division by zero', expected: '42P01', trace: [] },
  ],
  [
    'lives_ok',
    ['    died: 22012: division by zero'],
    { seen: '22012: division by zero', trace: [] },
  ],
  [
    'results_eq',
    ['    Results differ beginning at row 2:', '        have: (2)', '        want: (3)'],
    { seen: '(2)', expected: '(3)', trace: ['    Results differ beginning at row 2:'] },
  ],
  ['ok', ['Failed test 10: "x"'], { trace: [] }],
  ['cmp_ok', ["    '1'", '        >', "    '2'"], { trace: ["    '1'", '        >', "    '2'"] }],
])('what %s says is read', (_, lines, told) => {
  expect(readDiagnostics(lines)).toEqual(told);
});
