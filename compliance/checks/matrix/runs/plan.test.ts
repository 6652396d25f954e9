import { expect, test } from 'vitest';
import { expectationOf, subjectsOf } from './plan.ts';
import { runsFile, type RunsFile } from './schema.ts';

const file: RunsFile = runsFile.parse({
  matrix: 'runs',
  clause: 's8.1',
  title: 'a test',
  maximums: [1, 3],
  default_maximum: 5,
  failure_codes: { fail_transient: 'T', fail_permanent: 'P', crash: 'C' },
  paths: {
    mixed: { ends: ['crash', 'fail_transient'], runs: [1, 3], by_default: 5 },
    permanent: { ends: ['fail_permanent'], runs: [1, 1], by_default: 1 },
    lucky: { ends: ['crash', 'succeed'], runs: [1, 2], by_default: 2 },
  },
  lowered: [{ path: 'mixed', failures: 3, to: 1, runs: 4 }],
  ceiling: { attempts: [], status: [], claims: {} },
});

const expected = Object.fromEntries(
  subjectsOf(file).map((subject) => [subject.kind, expectationOf(subject, file)]),
);

const cases = [
  [
    'mixed_1',
    {
      runs: 1,
      told: [1],
      status: 'dead_letter',
      attempts: 1,
      dead_letters: [{ failure_code: 'C', attempts: 1 }],
    },
  ],
  [
    'mixed_3',
    { runs: 3, told: [3, 3, 3], attempts: 3, dead_letters: [{ failure_code: 'C', attempts: 3 }] },
  ],
  ['permanent_3', { runs: 1, attempts: 3, dead_letters: [{ failure_code: 'P', attempts: 1 }] }],
  ['permanent_by_default', { runs: 1, attempts: 5 }],
  ['lucky_1', { runs: 1, status: 'dead_letter' }],
  ['lucky_3', { runs: 2, status: 'succeeded', attempts: 2, dead_letters: [] }],
  [
    'mixed_lowered_after_3_to_1',
    { runs: 4, told: [5, 5, 5, 1], dead_letters: [{ failure_code: 'T', attempts: 4 }] },
  ],
] as const;

test.each(cases)('%s comes to %j', (kind, wanted) => {
  expect(expected[kind]).toMatchObject(wanted);
});

test('a path needs a number of runs for each maximum', () => {
  const paths = { short: { ends: ['crash' as const], runs: [1], by_default: 5 } };
  expect(() => subjectsOf({ ...file, paths, lowered: [] })).toThrow(
    /1 numbers of runs for 2 maximums/,
  );
});
