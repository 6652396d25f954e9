/**
 * A session beside the load that watches backends: which ones wait for another's row lock, and which
 * ones are gone, so that what they were doing is over.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Blocked, Gone } from '../../history/events.ts';
import type { Ns } from '../../history/calls.ts';
import type { Sandbox, Session } from '../../types.ts';
import { certainFailure } from './hands.ts';
import { us } from './statements.ts';

/** Disposing it stops watching, and throws what kept it from watching. */
export type Monitor = AsyncDisposable & {
  /** What it saw so far. */
  events: () => readonly (Blocked | Gone)[];
  /** The server was killed: every backend is gone. */
  serverDied: () => void;
};

/** Shorter than any claim that sits in an open transaction on purpose, so no wait for one is missed. */
const POLL_MS = 25;

/**
 * Locks are read first, then what each waiting backend runs. The statement must have begun before the
 * poll did: so it was already running when it was seen waiting, and a wait of the statement before it
 * cannot be taken for its own.
 */
const waiting = `
  with waits as materialized (
    select distinct l.pid, l.locktype
      from pg_catalog.pg_locks l
     where not l.granted and l.locktype in ('transactionid', 'tuple')
  )
  select w.pid, pg_catalog.pg_blocking_pids(w.pid) as by, w.locktype as lock,
         substring(a.query from 'fn_job_[a-z_]+') as running, ${us('clock_timestamp()')} as at_us
    from waits w
   cross join lateral pg_catalog.pg_stat_get_activity(w.pid) a
   where a.query_start < statement_timestamp()
     and a.state = 'active'
     and a.datid = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
     and a.query ~ 'fn_job_'`;
const backends = `
  select a.pid from pg_catalog.pg_stat_activity a
   where a.datname = current_database() and a.backend_type = 'client backend'`;

type Waiting = { pid: number; by: number[]; lock: string; running: string; at_us: string };

/** Begins to watch; ends when disposed. */
export function openMonitor(sandbox: Sandbox, nowNs: () => Ns): Monitor {
  const events: (Blocked | Gone)[] = [];
  let seen = new Set<number>();
  const ending = new AbortController();

  const gone = (pids: Iterable<number>): void => {
    const ns = nowNs();
    for (const pid of pids) events.push({ is: 'gone', pid, ns });
  };
  const poll = async (session: Session): Promise<void> => {
    for (const { pid, by, lock, running, at_us: atUs } of await session.query<Waiting>(waiting))
      events.push({ is: 'blocked', pid, by, running, lock, atUs: Number(atUs), ns: nowNs() });
    const rows = await session.query<{ pid: number }>(backends);
    const now = new Set(rows.map(({ pid }) => pid));
    gone([...seen].filter((pid) => !now.has(pid)));
    seen = now;
  };
  const isOver = (): boolean => ending.signal.aborted;
  const watch = async (): Promise<void> => {
    while (!isOver()) {
      try {
        await using session = await sandbox.session('dieu45 monitor');
        while (!isOver()) {
          await poll(session);
          await delay(POLL_MS, undefined, { signal: ending.signal });
        }
      } catch (error) {
        if (isAbort(error)) return;
        // A monitor that cannot ask must not look like one that saw nothing.
        if (certainFailure(error) !== undefined) throw error;
        // The server may be down for a moment, which is one of the faults.
        await delay(2 * POLL_MS, undefined, { signal: ending.signal }).catch(() => undefined);
      }
    }
  };
  const watching = watch();
  watching.catch(() => undefined);
  return {
    events: () => events,
    serverDied: () => {
      gone(seen);
      seen = new Set();
    },
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await watching;
    },
  };
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
