/**
 * Looks for a value that breaks a property: the hostile ones first, then random ones, and the
 * smallest that still breaks it is the one that is shown. The same seed searches the same values.
 */
import fc from 'fast-check';
import type { Run } from '../../types.ts';
import { pick, seeded } from '../random.ts';

export type Search<T> = {
  /** Tried first, in this order; each should differ from a good value in one thing only. */
  hostile: readonly T[];
  /** How many of the hostile ones, drawn by the seed, are enough where not all are asked for. */
  sample?: number | undefined;
  random: fc.Arbitrary<T>;
  /** How many random values; ten times as many where all are asked for. */
  runs: number;
  run: Pick<Run, 'seed' | 'exhaustive' | 'signal'>;
};
export type Found<T> = {
  /** How many values were tried, those of shrinking included. */
  tried: number;
  /** Set when the property is broken. */
  counterexample?: { value: T; problem: Problem };
};
/** What is wrong with one value: which assertion it breaks, and what was seen instead. */
export type Problem = { breaks: string; expected: string; seen: string };

/**
 * `judge` says what is wrong with a value, or undefined. What it throws is no finding and is thrown
 * on, as is the signal's reason.
 */
export async function search<T>(
  { hostile, sample, random, runs, run: { seed, exhaustive, signal } }: Search<T>,
  judge: (value: T) => Promise<Problem | undefined>,
): Promise<Found<T>> {
  let tried = 0;
  let broken: { thrown: unknown } | undefined;
  let last: { value: T; problem: Problem } | undefined;
  const holds = async (value: T): Promise<boolean> => {
    if (broken !== undefined) return true;
    try {
      signal.throwIfAborted();
      tried += 1;
      const problem = await judge(value);
      // Shrinking only ever goes on from what failed: the last problem is the smallest one's.
      if (problem !== undefined) last = { value, problem };
      return problem === undefined;
    } catch (thrown) {
      broken = { thrown };
      return true;
    }
  };
  const first = exhaustive ? hostile : drawn(hostile, sample ?? hostile.length, seed);
  for (const value of first) if (!(await holds(value))) break;
  if (last === undefined && broken === undefined) {
    await fc.check(fc.asyncProperty(random, holds), {
      seed,
      numRuns: exhaustive ? 10 * runs : runs,
    });
  }
  if (broken !== undefined) throw broken.thrown;
  return last === undefined ? { tried } : { tried, counterexample: last };
}

/** So many of them, in their order; the same seed draws the same. */
function drawn<T>(values: readonly T[], count: number, seed: number): T[] {
  const random = seeded(seed);
  const left = [...values.keys()];
  while (left.length > count) left.splice(pick(random, left.length), 1);
  return left.flatMap((index) => values.slice(index, index + 1));
}
