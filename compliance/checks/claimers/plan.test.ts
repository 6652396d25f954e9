import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadScenario } from './scenario.ts';
import { claimStep, enqueueSteps, jobStep, strikes, strikesOf } from './plan.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const scenario = await loadScenario(root, 'selftest/claimers/load.yaml');
const workers = Array.from({ length: scenario.claimers }, (_, index) => index);

function planned(seed: number) {
  return {
    strikes: workers.map((worker) => strikesOf(scenario, seed, worker)),
    claims: workers.map((worker) => claimStep(scenario, seed, worker, 5)),
    jobs: workers.map((worker) => jobStep(scenario, seed, worker, 5, 0)),
    enqueues: [0, 1].map((producer) => enqueueSteps(scenario, seed, producer)),
  };
}

test('the same seed gives the same plan, and another one another', () => {
  expect(planned(1)).toEqual(planned(1));
  expect(planned(1)).not.toEqual(planned(2));
});

test('every fault of the scenario strikes exactly as often as it says, in the order of turns', () => {
  for (const seed of [1, 2, 3]) {
    const all = workers.map((worker) => strikesOf(scenario, seed, worker));
    for (const strike of strikes)
      expect(all.flat().filter((one) => one.strike === strike)).toHaveLength(
        scenario.faults[strike],
      );
    for (const mine of all) {
      const turns = mine.map(({ turn }) => turn);
      expect(turns).toEqual([...new Set(turns)].sort((a, b) => a - b));
    }
  }
});

test('every job is enqueued once, and the contended keys by every producer with one content', () => {
  const calls = [0, 1].map((producer) => enqueueSteps(scenario, 1, producer));
  const jobs = calls.flat().flatMap((call) => call.jobs);
  const shared = jobs.filter(({ key }) => key.startsWith('shared'));
  expect(shared).toHaveLength(2 * scenario.contended_keys);
  expect(new Set(shared.map(({ key, ...content }) => JSON.stringify([key, content]))).size).toBe(
    scenario.contended_keys,
  );
  const own = jobs.filter(({ key }) => key.startsWith('job'));
  expect(own).toHaveLength(scenario.jobs);
  expect(new Set(own.map(({ key }) => key)).size).toBe(scenario.jobs);
  expect(jobs.filter(({ kind }) => kind === 'poison')).toHaveLength(scenario.poison_jobs);
  expect(calls.flat().filter(({ cut }) => cut)).toHaveLength(scenario.faults.cut_enqueue);
});

test('as many claims are held open as the scenario says', () => {
  const held = workers.flatMap((worker) =>
    Array.from({ length: 40 }, (_, turn) => claimStep(scenario, 1, worker, turn).held),
  );
  expect(held.filter((one) => one !== undefined)).toHaveLength(scenario.held_claims.count);
});
