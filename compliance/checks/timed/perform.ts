/** What a process of a timed scenario does. */
import type { Granted } from '../../history/calls.ts';
import type { Desk } from '../claimers/worker_parts.ts';
import type { TimedRole } from './roles.ts';

/** How often a worker that must have a job asks for one. */
const POLL_MS = 20;

/** Plays a role to its end. */
export async function performRole(desk: Desk, role: TimedRole): Promise<void> {
  switch (role.does) {
    case 'die':
      return die(desk, role);
    case 'renew':
      return renew(desk, role, role.everyMs);
    case 'rescue':
      return rescue(desk, role, role.pollMs);
    case 'claim_late':
      return claimLate(desk, role, role.openMs);
  }
}

function asked({ kinds, ttlSeconds }: TimedRole) {
  return { kinds, limit: 1, ttlSeconds };
}

/** One job, however long it takes until there is one; undefined when told to stop. */
async function oneJob(desk: Desk, role: TimedRole): Promise<Granted | undefined> {
  while (!desk.isStopped()) {
    const claimed = await desk.hands.call('claim', asked(role));
    const [granted] = claimed.end === 'ok' ? claimed.answer.jobs : [];
    if (granted !== undefined) return granted;
    await desk.pause(POLL_MS);
  }
  return undefined;
}

async function die(desk: Desk, role: TimedRole): Promise<void> {
  const lease = await oneJob(desk, role);
  if (lease === undefined) return;
  await desk.hands.call('progress', lease);
  desk.hands.fault('kill_worker');
  desk.report({ is: 'strike', strike: 'kill_worker', turn: 1, struck: 1 });
  desk.signalSelf('SIGKILL');
}

async function renew(desk: Desk, role: TimedRole, everyMs: number): Promise<void> {
  const lease = await oneJob(desk, role);
  if (lease === undefined) return;
  await desk.hands.call('progress', lease);
  while (!desk.isCalm() && !desk.isStopped()) {
    await desk.hands.call('renew', { ...lease, ttlSeconds: role.ttlSeconds });
    await desk.pause(everyMs);
  }
  await desk.hands.call('succeed', lease);
}

async function rescue(desk: Desk, role: TimedRole, pollMs: number): Promise<void> {
  while (!desk.isStopped()) {
    const claimed = await desk.hands.call('claim', asked(role));
    for (const lease of claimed.end === 'ok' ? claimed.answer.jobs : [])
      await desk.hands.call('succeed', lease);
    await desk.pause(pollMs);
  }
}

async function claimLate(desk: Desk, role: TimedRole, openMs: number): Promise<void> {
  const claimed = await desk.hands.claimLate(asked(role), openMs);
  for (const lease of claimed.end === 'ok' ? claimed.answer.jobs : [])
    await desk.hands.call('succeed', lease);
}
