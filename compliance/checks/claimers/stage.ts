/** What the coordinator of a run holds, and how it waits: for a condition, with a limit. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ns } from '../../history/calls.ts';
import type { Alarm, FaultEvent, Phase } from '../../history/events.ts';
import type { Run, Sandbox, Session } from '../../types.ts';
import type { Crew, Member } from './crew.ts';
import { certainFailure } from './hands.ts';
import type { Monitor } from './monitor.ts';

export type Stage = {
  sandbox: Sandbox;
  run: Run;
  crew: Crew;
  monitor: Monitor;
  nowNs: () => Ns;
  /** The coordinator's own connection; another one after the server was killed. */
  session: () => Promise<Session>;
  /** What the coordinator itself did, for the history. */
  events: (Alarm | FaultEvent | Phase)[];
  /** Planned strikes that were made. */
  struck: number;
  /** Workers that stopped themselves and wait for SIGCONT. */
  stopped: Set<Member>;
  /** Producers that have enqueued everything. */
  done: number;
  /** The first thing that failed beside the main path. */
  broken: unknown;
  /** Nobody is hired any more. */
  closed: boolean;
};

/** How often a condition is looked at. */
const POLL_MS = 25;

/** A connection that is made when it is asked for, and again after it broke. */
export function lastingSession(sandbox: Sandbox, name: string): () => Promise<Session> {
  let session: Promise<Session> | undefined;
  return () => {
    session ??= sandbox.session(name).then((opened) => {
      opened.client.once('end', () => (session = undefined));
      return opened;
    });
    session.catch(() => (session = undefined));
    return session;
  };
}

/** Notes the beginning of a phase. */
export function mark({ events, nowNs, run }: Stage, name: Phase['name']): void {
  events.push({ is: 'phase', name, ns: nowNs() });
  run.progress(name);
}

/**
 * Polls until a condition holds; false when it did not within the limit. While the server is down a
 * condition is not known, and is asked again.
 */
export async function until(
  stage: Pick<Stage, 'run' | 'broken'>,
  limitMs: number,
  holding: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    try {
      if (await holding()) return true;
    } catch (error) {
      if (certainFailure(error) !== undefined) throw error;
    }
    if (stage.broken !== undefined) throw stage.broken as Error;
    await delay(POLL_MS, undefined, { signal: stage.run.signal });
  }
  return false;
}

/** Whether a query's one value, named `ok`, is true. */
export async function holds(
  { session }: Stage,
  sql: string,
  values: readonly unknown[] = [],
): Promise<boolean> {
  const [row] = await (await session()).query<{ ok: boolean }>(sql, values);
  return row?.ok ?? false;
}
