import { expect, test } from 'vitest';
import { KitError } from '../errors.ts';
import type { Round } from './load.ts';
import { readOptions } from './options.ts';
import { line, median, table } from './summary.ts';

const round = (jobs: number, claimMs: readonly number[] = [1]): Round => ({
  jobs,
  elapsedMs: 1_000,
  claimMs,
});

test.each([
  [[], NaN],
  [[3], 3],
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test('the ratio is the median of the ratios of rounds that followed each other', () => {
  const cell = {
    clients: 4,
    batch: 50,
    // A machine that became twice as slow in the second round has the same ratio there.
    textbook: [round(1000), round(500), round(1000)],
    dieu45: [round(800, [2]), round(400, [4]), round(900, [2])],
  };
  expect(line(cell)).toEqual([
    '4',
    '50',
    '1000',
    '800',
    '0.80',
    '0.80–0.90',
    '1.00',
    '2.00',
    '2.00',
  ]);
});

test('columns stand side by side, to the right', () => {
  expect(
    table([
      ['a', 'long'],
      ['100', '1'],
    ]),
  ).toBe('  a  long\n100     1');
});

test('the options have defaults, and lists', () => {
  expect(readOptions([])).toMatchObject({ target: 'embedded', clients: [1, 4], batches: [1, 50] });
  expect(readOptions(['--clients', '16', '--rounds=2'])).toMatchObject({
    clients: [16],
    rounds: 2,
  });
});

test.each([
  ['--clients', '0'],
  ['--rounds', 'many'],
  ['--batches', '1,'],
  ['--what', '1'],
])('%s %s is a usage error', (...args) => {
  expect(() => readOptions(args)).toThrow(KitError);
});
