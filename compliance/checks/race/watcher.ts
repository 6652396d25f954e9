/** Who waits for whom, as the server knows it. */
import type { Session } from '../../types.ts';
import { known } from './known.ts';

export type Watcher = {
  /** Of the named sessions, those that wait for a lock of another one, and for whom. */
  waiting(names: readonly string[]): Promise<Map<string, string[]>>;
  /** Cancels what the named sessions are running. */
  cancel(names: readonly string[]): Promise<void>;
};

/**
 * Watches sessions from a session of its own. Only waits for each other count: a wait for the
 * watcher's own locks is not one.
 */
export function watcher(control: Session, cast: ReadonlyMap<string, number>): Watcher {
  const names = new Map([...cast].map(([name, pid]) => [pid, name]));
  const pidsOf = (some: readonly string[]): number[] =>
    some.flatMap((name) => cast.get(name) ?? []);
  return {
    async waiting(some) {
      const rows = await control.query<{ pid: number; holders: number[] }>(
        `select w.pid, pg_catalog.pg_blocking_pids(w.pid) as holders
           from unnest($1::int[]) as w(pid)
          where pg_catalog.pg_isolation_test_session_is_blocked(w.pid, $2::int[])`,
        [pidsOf(some), [...cast.values()]],
      );
      return new Map(
        rows.map(({ pid, holders }) => [
          known(names.get(pid), 'a session of this pid'),
          holders.flatMap((holder) => names.get(holder) ?? []),
        ]),
      );
    },
    async cancel(some) {
      await control.query(
        'select pg_catalog.pg_cancel_backend(pid) from unnest($1::int[]) as w(pid)',
        [pidsOf(some)],
      );
    },
  };
}

/** Whether a session waits, over others, for itself: the server's detector will end that. */
export function inCycle(name: string, waiting: ReadonlyMap<string, readonly string[]>): boolean {
  const seen = new Set<string>();
  const open = [...(waiting.get(name) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === name) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(waiting.get(next) ?? []));
  }
  return false;
}
