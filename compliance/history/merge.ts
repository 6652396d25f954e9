/**
 * The files of the worker processes → one history in the order of the monotonic clock. A call that
 * has no outcome in its own file becomes `info`: its process died, and nobody knows. Pure.
 */
import type { Ns } from './calls.ts';
import type { HistoryEvent, Info, Invoke } from './events.ts';

/** An event that stands at a moment: everything but the header and the final reads. */
export type Timed = Extract<HistoryEvent, { ns: Ns }>;

/**
 * Adds the missing outcomes of one process's events, at the end of them.
 * @param because Why an outcome can be missing, for example `the process was killed`.
 */
export function closeOpenCalls(events: readonly Timed[], because: string): Timed[] {
  const open = new Map<string, Invoke>();
  for (const event of events) {
    if (event.is === 'invoke') open.set(event.op, event);
    else if (event.is === 'ok' || event.is === 'fail' || event.is === 'info') open.delete(event.op);
  }
  const last = events.at(-1)?.ns ?? 0;
  return [...events, ...[...open.values()].map((invoke) => unknown(invoke, last, because))];
}

function unknown({ op, proc, f }: Invoke, ns: Ns, because: string): Info {
  return { is: 'info', op, proc, f, ns, because };
}

/** Merges streams that are each in order into one that is; equal moments keep the streams' order. */
export function mergeByTime(streams: readonly (readonly Timed[])[]): Timed[] {
  return streams.flat().sort((a, b) => a.ns - b.ns);
}
