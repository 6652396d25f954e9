import { expect, test } from 'vitest';
import { delaySeconds, isWithin, type Backoff } from './delay.ts';

test.each<[Backoff, number, number]>([
  [{ strategy: 'exponential', base: 30, cap: 3600 }, 1, 30],
  [{ strategy: 'exponential', base: 30, cap: 3600 }, 7, 1920],
  [{ strategy: 'exponential', base: 30, cap: 3600 }, 5000, 3600],
  [{ strategy: 'exponential', base: 100, cap: 60 }, 1, 60],
  [{ strategy: 'linear', base: 30, cap: 3600 }, 3, 90],
  [{ strategy: 'constant', base: 30, cap: 3600 }, 9, 30],
  [{ strategy: 'linear', base: 30, cap: 0 }, 9, 30],
])('%j after attempt %d waits %d s', (backoff, attempt, seconds) => {
  expect(delaySeconds(backoff, attempt)).toBe(seconds);
});

test.each([
  [1, 24, true],
  [1, 36, true],
  [1, 23.99, false],
  [1, 36.01, false],
  [2, 36, false],
  [0, 0, true],
  [0, 36.01, false],
])('after attempt %d, %d s is within: %s', (attempt, seconds, within) => {
  expect(isWithin({ strategy: 'exponential', base: 30, cap: 3600 }, attempt, seconds)).toBe(within);
});
