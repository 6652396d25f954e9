import fc from 'fast-check';
import { expect, test } from 'vitest';
import { search, type Problem } from './search.ts';

const problem: Problem = { breaks: 'a', expected: 'less', seen: 'more' };
const base = {
  hostile: [],
  random: fc.nat(),
  runs: 200,
  run: { seed: 7, exhaustive: false, signal: new AbortController().signal },
};
const below = (limit: number) => (value: number) =>
  Promise.resolve(value < limit ? undefined : problem);

test('what breaks is shrunk to the smallest that breaks', async () => {
  const { counterexample } = await search(base, below(1000));
  expect(counterexample).toEqual({ value: 1000, problem });
});

test('hostile values come first, in their order, and end the search', async () => {
  const found = await search({ ...base, hostile: [1, 5000, 6000] }, below(1000));
  expect(found).toEqual({ tried: 2, counterexample: { value: 5000, problem } });
});

test('what holds is tried as often as was asked', async () => {
  expect(await search({ ...base, hostile: [1, 2] }, below(Infinity))).toEqual({ tried: 202 });
});

test('a sample of the hostile values is drawn by the seed, and an exhaustive run takes them all', async () => {
  const tried = async (run: Partial<typeof base.run>): Promise<number[]> => {
    const values: number[] = [];
    const hostile = Array.from({ length: 100 }, (_, index) => index);
    await search(
      { ...base, hostile, sample: 10, runs: 2, run: { ...base.run, ...run } },
      (value) => {
        values.push(value);
        return Promise.resolve(undefined);
      },
    );
    return values;
  };
  const sampled = await tried({});
  expect(sampled).toHaveLength(12);
  expect(sampled.slice(0, 10)).toEqual(sampled.slice(0, 10).toSorted((a, b) => a - b));
  expect(await tried({})).toEqual(sampled);
  expect((await tried({ seed: 8 })).slice(0, 10)).not.toEqual(sampled.slice(0, 10));
  expect(await tried({ exhaustive: true })).toHaveLength(120);
});

test('the same seed tries the same values', async () => {
  const tried = async (): Promise<number[]> => {
    const values: number[] = [];
    await search(base, (value) => {
      values.push(value);
      return Promise.resolve(undefined);
    });
    return values;
  };
  expect(await tried()).toEqual(await tried());
});

test('an error of the judge is thrown on, not taken for a finding', async () => {
  const broken = search(base, () => Promise.reject(new Error('the kit broke')));
  await expect(broken).rejects.toThrow('the kit broke');
});

test('an aborted search throws the reason', async () => {
  const signal = AbortSignal.abort(new Error('interrupted'));
  const run = { ...base.run, signal };
  await expect(search({ ...base, run }, below(1))).rejects.toThrow('interrupted');
});
