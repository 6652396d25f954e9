/** A worker that claims jobs and does with them what the plan says, faults included. */
import type { Granted } from '../../history/calls.ts';
import type { Result } from './hands.ts';
import type { Job } from './orders.ts';
import {
  claimStep,
  jobStep,
  kindsOf,
  poisonKind,
  strikesOf,
  type ClaimStep,
  type Strike,
} from './plan.ts';
import type { Desk } from './worker_parts.ts';

type Claimer = Extract<Job, { is: 'claim' }>;
/** How far the plan has come. */
type Place = { turn: number; struck: number };

/** How long an idle worker waits before it asks again: longer each time, as a worker would. */
const IDLE_MS = { first: 5, most: 80 };

/** Claims until it is told to stop. */
export async function claimer(desk: Desk, job: Claimer): Promise<void> {
  const { scenario, worker } = job;
  const strikes = strikesOf(scenario, desk.seed, worker);
  const at: Place = { turn: job.turn, struck: job.struck };
  let idleMs = IDLE_MS.first;
  const rest = async (): Promise<void> => {
    await desk.pause(idleMs);
    idleMs = Math.min(IDLE_MS.most, 2 * idleMs);
  };
  while (!desk.isStopped()) {
    if (desk.isCalm()) {
      if (await finishSome(desk, job)) idleMs = IDLE_MS.first;
      else await rest();
      continue;
    }
    const { turn } = at;
    const next = strikes[at.struck];
    const strike = next !== undefined && next.turn <= turn ? next.strike : undefined;
    const step = claimStep(scenario, desk.seed, worker, turn);
    // A turn waits for its first grant: after an empty answer it asks for everything there is.
    if (idleMs > IDLE_MS.first) step.kinds = kindsOf(scenario);
    // What a fault leaves behind is to be seen to again soon, so its lease is short.
    if (strike !== undefined) step.ttlSeconds = scenario.claim.struck_ttl_seconds;
    const claimed = await claim(desk, step, strike, at);
    const jobs = claimed.end === 'ok' ? claimed.answer.jobs : [];
    if (claimed.end === 'ok' && jobs.length === 0) {
      await rest();
      continue;
    }
    idleMs = IDLE_MS.first;
    // The turn is over whatever comes of it: the next incarnation goes on behind it.
    at.turn += 1;
    if (strike !== undefined) at.struck += 1;
    for (const [index, granted] of jobs.entries()) {
      const struck = index === 0 ? strike : undefined;
      await work({ desk, job, at, turn, index, ttlSeconds: step.ttlSeconds }, granted, struck);
    }
  }
}

/** The faults are over: whatever there is, it is done. False when there was nothing. */
async function finishSome(desk: Desk, { scenario }: Claimer): Promise<boolean> {
  const { batch: limit, ttl_seconds: ttlSeconds } = scenario.claim;
  const claimed = await desk.hands.call('claim', { kinds: kindsOf(scenario), limit, ttlSeconds });
  const jobs = claimed.end === 'ok' ? claimed.answer.jobs : [];
  for (const lease of jobs) await succeed(desk, lease);
  return jobs.length > 0;
}

async function succeed({ hands }: Desk, { job, token }: Granted): Promise<void> {
  await hands.call('succeed', { job, token });
}

async function claim(
  { hands, report }: Desk,
  { held, ...args }: ClaimStep,
  strike: Strike | undefined,
  at: Place,
): Promise<Result<'claim'>> {
  if (strike === 'cut_claim') {
    report({ is: 'strike', strike, turn: at.turn + 1, struck: at.struck + 1 });
    hands.fault('cut_after_commit');
    return hands.callAndCut('claim', args);
  }
  return held === undefined || strike !== undefined
    ? hands.call('claim', args)
    : hands.claimHeld(args, held);
}

type Turn = {
  desk: Desk;
  job: Claimer;
  at: Place;
  turn: number;
  index: number;
  ttlSeconds: number;
};

async function work(
  { desk, job: { scenario, worker }, at, turn, index, ttlSeconds }: Turn,
  granted: Granted,
  strike: Strike | undefined,
): Promise<void> {
  const { hands, report } = desk;
  if (desk.isCalm()) return succeed(desk, granted);
  const lease = { job: granted.job, token: granted.token };
  const step = jobStep(scenario, desk.seed, worker, turn, index);
  if (step.progress) await hands.call('progress', lease);
  if (granted.attempts > 1) await desk.pause(scenario.work.redelivered_hold_ms);
  if (step.renew) await hands.call('renew', { ...lease, ttlSeconds });
  if (strike === 'kill_worker' || granted.kind === poisonKind) {
    hands.fault('kill_worker');
    report({ is: 'strike', strike: 'kill_worker', ...at });
    desk.signalSelf('SIGKILL');
  }
  if (strike === 'stop_worker') {
    hands.fault(strike);
    report({ is: 'strike', strike, ...lease, ...at });
    desk.signalSelf('SIGSTOP');
    // Stopped beyond the end of its lease, and not knowing it: a zombie that just goes on.
    await hands.call('renew', { ...lease, ttlSeconds });
    await hands.call('progress', lease);
  } else if (strike === 'terminate_backend') {
    hands.fault(strike);
    report({ is: 'strike', strike, pid: hands.pid(), ...at });
  } else if (strike === 'cut_ending') {
    hands.fault('cut_after_commit');
    report({ is: 'strike', strike, ...at });
    await hands.callAndCut(step.end, lease);
    // It does not know what became of that, so it asks again below.
  }
  const ended = await hands.call(step.end, lease);
  if (step.repeat || ended.end === 'info') await hands.call(step.end, lease);
}
