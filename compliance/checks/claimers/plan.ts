/**
 * What each process will do, from the seed alone: the same seed gives the same plan, whatever the
 * server answers. A plan says what a worker does with the n-th job that it is granted, so it holds
 * however the jobs fall. Pure.
 */
import { random, type Random } from '../../history/random.ts';
import type { NewJob } from '../../history/calls.ts';
// The type alone: a worker process must not load what reads and checks the file.
import type { Scenario } from './scenario.ts';

/** Faults that strike a worker while it holds a job. */
export const strikes = [
  'kill_worker',
  'stop_worker',
  'terminate_backend',
  'cut_claim',
  'cut_ending',
] as const;
export type Strike = (typeof strikes)[number];
/** A worker's n-th claim that is granted something, counted from 0, meets this fault. */
export type PlannedStrike = { turn: number; strike: Strike };

export type ClaimStep = {
  kinds: readonly string[];
  limit: number;
  ttlSeconds: number;
  /** Sits in an open transaction for so long, then commits or rolls back. */
  held?: { ms: number; end: 'commit' | 'rollback' };
};
export type JobStep = {
  progress: boolean;
  renew: boolean;
  end: 'succeed' | 'fail_transient' | 'fail_permanent';
  repeat: boolean;
};

/** The kind whose jobs kill their workers. */
export const poisonKind = 'poison';

/** All kinds that a worker asks for. */
export function kindsOf({ kinds, poison_jobs: poison }: Scenario): string[] {
  return poison > 0 ? [...kinds, poisonKind] : [...kinds];
}

/** The strikes of one worker, in the order of its turns. */
export function strikesOf(scenario: Scenario, seed: number, worker: number): PlannedStrike[] {
  const rnd = random(seed, 'strikes');
  const all = shuffle(
    strikes.flatMap((strike) => Array.from({ length: scenario.faults[strike] }, () => strike)),
    rnd,
  );
  const first = rnd.int(0, scenario.claimers - 1);
  let turn = 1;
  return all
    .filter((_, index) => (index + first) % scenario.claimers === worker)
    .map((strike) => ({ strike, turn: (turn += random(seed, 'turn', worker, turn).int(2, 6)) }));
}

/** The steps of a worker's n-th claim. */
export function claimStep(
  scenario: Scenario,
  seed: number,
  worker: number,
  turn: number,
): ClaimStep {
  const rnd = random(seed, 'claim', worker, turn);
  const { batch_share: batchShare, batch, ttl_seconds: ttlSeconds } = scenario.claim;
  const all = kindsOf(scenario);
  const some = all.filter(() => rnd.chance(0.7));
  const step: ClaimStep = {
    kinds: some.length > 0 ? some : all,
    limit: rnd.chance(batchShare) ? batch : 1,
    ttlSeconds,
  };
  const { count, ms, rollback_share: rollbackShare } = scenario.held_claims;
  // Spread over the workers and their first turns, so that each run has exactly so many.
  const mine = shareOf(count, scenario.claimers, worker);
  if (turn % 4 !== 3 || Math.floor(turn / 4) >= mine) return step;
  return { ...step, held: { ms, end: rnd.chance(rollbackShare) ? 'rollback' : 'commit' } };
}

/** What a worker does with the i-th job of its n-th claim. */
export function jobStep(
  { work }: Scenario,
  seed: number,
  worker: number,
  turn: number,
  index: number,
): JobStep {
  const rnd = random(seed, 'job', worker, turn, index);
  const progress = rnd.chance(work.progress);
  const renew = rnd.chance(work.renew);
  const fate = rnd.next();
  const failing = work.fail_permanent + work.fail_transient;
  return {
    progress,
    renew,
    end:
      fate < work.fail_permanent ? 'fail_permanent' : fate < failing ? 'fail_transient' : 'succeed',
    repeat: rnd.chance(work.repeat),
  };
}

/** One enqueue call of a producer. Delays are in ms from the call. */
export type EnqueueStep = {
  jobs: readonly (NewJob & { delayMs?: number })[];
  /** Its answer is cut off after the commit. */
  cut: boolean;
};

/** What a producer enqueues: its share of the jobs, and every contended key. */
export function enqueueSteps(scenario: Scenario, seed: number, producer: number): EnqueueStep[] {
  const rnd = random(seed, 'enqueue', producer);
  const { jobs, producers, priorities, kinds, delayed, enqueue } = scenario;
  const one = (key: string, kind: string): EnqueueStep['jobs'][number] => ({
    key,
    kind,
    priority: rnd.int(0, priorities),
    ...(rnd.chance(delayed.share) && { delayMs: rnd.int(1, delayed.ms) }),
  });
  const calls: EnqueueStep['jobs'][] = [];
  for (let made = 0, mine = shareOf(jobs, producers, producer); made < mine;) {
    const size = rnd.chance(enqueue.single_share) ? 1 : Math.min(enqueue.batch, mine - made);
    calls.push(
      Array.from({ length: size }, () => one(`job-${producer}-${(made += 1)}`, pickOf(kinds, rnd))),
    );
  }
  // The same content from each producer, or the second one would be refused.
  const contended = named(scenario.contended_keys, 'shared', kinds[0] ?? '', 0);
  const poison = named(
    producer === 0 ? scenario.poison_jobs : 0,
    'poison',
    poisonKind,
    priorities + 1,
  );
  const cuts = shareOf(scenario.faults.cut_enqueue, producers, producer);
  const all = [...contended, ...calls.slice(0, 1), ...poison, ...calls.slice(1)];
  return all.map((call, index) => ({ jobs: call, cut: index % 3 === 1 && index / 3 < cuts }));
}

/** Calls of one job each. */
function named(count: number, name: string, kind: string, priority: number): EnqueueStep['jobs'][] {
  return Array.from({ length: count }, (_, index) => [
    { key: `${name}-${index + 1}`, kind, priority },
  ]);
}

/** What falls to one of several when a whole is dealt out evenly. */
function shareOf(whole: number, among: number, index: number): number {
  return Math.floor(whole / among) + (index < whole % among ? 1 : 0);
}

function shuffle<T>(items: readonly T[], rnd: Random): T[] {
  const left = [...items];
  return items.map(() => left.splice(rnd.int(0, left.length - 1), 1)).flat();
}

function pickOf(kinds: readonly string[], rnd: Random): string {
  return kinds[rnd.int(0, kinds.length - 1)] ?? '';
}
