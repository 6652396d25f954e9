import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { schedule } from './schedule.ts';

type Item = { name: string; weight: number; waits?: boolean };

/** Runs items that each end when told; keeps the order of starts and the most that ran at once. */
function bench(items: readonly Item[], jobs: number, signal = new AbortController().signal) {
  const started: string[] = [];
  const running = new Map<string, () => void>();
  let most = 0;
  const whole = schedule({
    items,
    jobs,
    signal,
    waits: ({ waits }) => waits === true,
    weight: ({ weight }) => weight,
    run: ({ name }) =>
      new Promise<void>((resolve) => {
        started.push(name);
        running.set(name, resolve);
        most = Math.max(most, running.size);
      }),
  });
  const finish = async (name: string): Promise<void> => {
    running.get(name)?.();
    running.delete(name);
    await delay(0);
  };
  return { started, finish, whole, most: () => most };
}

test('the longest starts first, and no more run at once than there are jobs', async () => {
  const items = [1, 3, 2].map((weight) => ({ name: `w${weight}`, weight }));
  const { started, finish, whole, most } = bench(items, 2);
  expect(started).toEqual(['w3', 'w2']);
  await finish('w2');
  expect(started).toEqual(['w3', 'w2', 'w1']);
  await finish('w3');
  await finish('w1');
  await whole;
  expect(most()).toBe(2);
});

test('what waits for the clock holds no working slot', async () => {
  const items = [
    { name: 'wait', weight: 9, waits: true },
    { name: 'a', weight: 2 },
    { name: 'b', weight: 1 },
    { name: 'c', weight: 0 },
  ];
  const { started, finish, whole } = bench(items, 2);
  expect(started).toEqual(['wait', 'a', 'b']);
  for (const name of ['a', 'c', 'b', 'wait']) await finish(name);
  await whole;
});

test('with one job, one thing runs at a time in all', async () => {
  const items = [
    { name: 'wait', weight: 9, waits: true },
    { name: 'a', weight: 2 },
  ];
  const { started, finish, whole, most } = bench(items, 1);
  expect(started).toEqual(['wait']);
  await finish('wait');
  await finish('a');
  await whole;
  expect(most()).toBe(1);
});

test('once aborted, nothing further starts, and what runs is awaited', async () => {
  const aborter = new AbortController();
  const items = ['a', 'b'].map((name) => ({ name, weight: 1 }));
  const { started, finish, whole } = bench(items, 1, aborter.signal);
  aborter.abort();
  await finish('a');
  await whole;
  expect(started).toEqual(['a']);
});

test('when a run throws, nothing further starts, what runs is awaited, and the error is thrown', async () => {
  const ended: string[] = [];
  const whole = schedule({
    items: ['slow', 'bad', 'never'],
    jobs: 2,
    signal: new AbortController().signal,
    waits: () => false,
    weight: () => 1,
    run: async (item) => {
      if (item === 'bad') throw new Error('broke');
      await delay(5);
      ended.push(item);
    },
  });
  await expect(whole).rejects.toThrow('broke');
  expect(ended).toEqual(['slow']);
});

test('nothing to run is done at once', async () => {
  await bench([], 4).whole;
});
