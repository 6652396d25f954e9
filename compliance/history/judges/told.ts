/** A short valid history for the judges' tests, and ways to corrupt one. */
import type { Granted } from '../calls.ts';
import type { HistoryEvent } from '../events.ts';
import type { JudgeName } from '../finding.ts';
import { script, sealed } from '../simulate/script.ts';

/**
 * One worker finishes `a`; another lets `b` expire, is reaped, speaks again in vain, and the first
 * does `b` in its turn; `c` is failed for good; `d` stays where it is.
 */
export function told(): HistoryEvent[] {
  const tale = script();
  tale.enqueue(
    { key: 'a', kind: 'mail', priority: 3 },
    { key: 'b', kind: 'mail', priority: 2 },
    { key: 'c', kind: 'sync', priority: 1 },
    { key: 'd', kind: 'mail', priority: 0 },
  );
  const a = only(tale.claim('w1', ['mail']));
  const b = only(tale.claim('w2', ['mail', 'sync']));
  tale.call('w1', 'progress', a);
  tale.call('w1', 'succeed', a);
  tale.call('w1', 'succeed', a);
  tale.wait(1200);
  tale.reap();
  tale.call('w2', 'succeed', b);
  tale.wait(600);
  const both = tale.claim('w1', ['mail', 'sync'], 2);
  const again = only(both);
  tale.call('w1', 'renew', again);
  tale.call('w1', 'succeed', again);
  tale.call('w1', 'fail_permanent', only(both.slice(1)));
  return tale.end();
}

/** What the claims of a told history granted: a, b, b again, and c. */
export function grantsOf(events: readonly HistoryEvent[]): [Granted, Granted, Granted, Granted] {
  const grants = events.flatMap((event) =>
    event.is === 'ok' && event.f === 'claim' ? event.answer.jobs : [],
  );
  if (grants.length !== 4) throw new Error('the told history grants four leases');
  return grants as [Granted, Granted, Granted, Granted];
}

function only<T>([first]: readonly T[]): T {
  if (first === undefined) throw new Error('the queue granted nothing');
  return first;
}

export type Pick = (event: HistoryEvent) => boolean;

/** Picks operations' lines by kind of line, function and process; `nth` counts those from 0. */
export function pick(
  is: HistoryEvent['is'],
  wanted: Readonly<Record<string, unknown>>,
  nth = 0,
): Pick {
  let seen = 0;
  return (event) => {
    const fields = event as unknown as Record<string, unknown>;
    if (event.is !== is || Object.entries(wanted).some(([key, value]) => fields[key] !== value))
      return false;
    return seen++ === nth;
  };
}

/** Every line that a predicate picks is left out. */
export function drop(events: readonly HistoryEvent[], which: Pick): HistoryEvent[] {
  return sealed(events.filter((event) => !which(event)));
}

/** The first line that a predicate picks, with some fields replaced. */
export function patch(
  events: readonly HistoryEvent[],
  which: Pick,
  fields: (event: never) => object,
): HistoryEvent[] {
  return events.map((event) => (which(event) ? { ...event, ...fields(event as never) } : event));
}

/** Two neighbouring lines that a predicate picks change places. */
export function swap(events: readonly HistoryEvent[], first: Pick, second: Pick): HistoryEvent[] {
  const [i, j] = [events.findIndex(first), events.findIndex(second)];
  const [a, b] = [events[i], events[j]];
  if (a === undefined || b === undefined) throw new Error('there is nothing to swap');
  return events.with(i, b).with(j, a);
}

/** Without the log of row changes: what a queue without our trigger leaves behind. */
export function unlogged(events: readonly HistoryEvent[]): HistoryEvent[] {
  return drop(events, ({ is }) => is === 'change');
}

/** Judge, what was done to the history, what the judge must say of it, in how many lines, and how. */
export type Corruption = readonly [JudgeName, string, RegExp, number, Corrupt];
export type Corrupt = (events: HistoryEvent[]) => HistoryEvent[];
