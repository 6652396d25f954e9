/**
 * Events → Digest, in one pass. Memory grows with jobs and operations, by small records; no event
 * is kept. The recording's own soundness is checked on the way: a dropped, doubled or displaced line
 * makes the history malformed, and nothing can be passed on it.
 */
import type { Header, HistoryEvent } from './events.ts';
import { addFact, interner } from './facts.ts';
import { closeOp, openOp, type OpenOps } from './operations.ts';
import { storyOf, type Digest } from './story.ts';

export type DigestFold = { see(event: HistoryEvent): void; finish(): Digest };

/** Digests a finite sequence of events; see `digestFold` for a stream. */
export function digest(events: Iterable<HistoryEvent>): Digest {
  const fold = digestFold();
  for (const event of events) fold.see(event);
  return fold.finish();
}

/** A fold over events: `see` each in order, then `finish` once. */
export function digestFold(): DigestFold {
  const state: OpenOps = {
    ops: [],
    claims: [],
    reaps: [],
    jobs: new Map(),
    keys: new Map(),
    unknownKeys: new Set(),
    opOfTx: new Map(),
    open: new Map(),
    closed: new Set(),
    intern: interner(),
    malformed: [],
  };
  const sweeps: Digest['sweeps'][number][] = [];
  const sweepIds = new Set<number>();
  const blocked: Digest['blocked'][number][] = [];
  const faults: Digest['faults'][number][] = [];
  const alarms: Digest['alarms'][number][] = [];
  const gone = new Map<number, number>();
  let header: Header | undefined;
  let lastNs = -Infinity;
  let lines = 0;
  let logged = false;
  let ended = false;

  const complain = (line: number, what: string): void => {
    state.malformed.push(`line ${line + 1}: ${what}`);
  };

  const see = (event: HistoryEvent): void => {
    const line = lines;
    lines += 1;
    if (ended) complain(line, 'something follows the end');
    if ((header === undefined) !== (event.is === 'header'))
      complain(line, event.is === 'header' ? 'a second header' : 'the header is missing');
    if ('ns' in event) {
      if (event.ns < lastNs) complain(line, `it stands ${lastNs - event.ns} ns too late`);
      lastNs = Math.max(lastNs, event.ns);
    }
    switch (event.is) {
      case 'header':
        header ??= event;
        break;
      case 'invoke':
        openOp(state, event, line);
        break;
      case 'ok':
      case 'fail':
      case 'info':
        closeOp(state, event, line);
        break;
      case 'fault':
        faults.push({ ...event, line });
        break;
      case 'gone':
        gone.set(event.pid, event.ns);
        break;
      case 'blocked':
        blocked.push({ ...event, line });
        break;
      case 'alarm':
        alarms.push({ ...event, line });
        break;
      case 'phase':
        break;
      case 'sweep':
        if (sweepIds.has(event.id)) complain(line, 'this sweep is doubled');
        sweepIds.add(event.id);
        sweeps.push({ ...event, line });
        break;
      case 'end':
        ended = true;
        if (event.lines !== line) complain(line, `${event.lines} lines were written, not ${line}`);
        break;
      default:
        if (event.is === 'change') logged = true;
        if (!addFact(storyOf(state.jobs, event.job), event, line, state.intern))
          complain(line, `this ${event.is} is out of place or doubled`);
    }
  };

  const finish = (): Digest => {
    if (header === undefined) throw new Error('a history without a header cannot be judged');
    if (!ended) state.malformed.push('the end is missing: the file was cut short');
    for (const op of state.open.values()) complain(op.line, `operation ${op.id} has no outcome`);
    for (const op of state.ops) {
      if (op.end !== 'info') continue;
      op.endNs = gone.get(op.pid) ?? Infinity;
      for (const { key } of op.enqueues ?? []) state.unknownKeys.add(key);
    }
    const { ops, claims, reaps, jobs, keys, unknownKeys, opOfTx, malformed } = state;
    return {
      header,
      lines,
      ops,
      claims,
      reaps,
      jobs,
      keys,
      unknownKeys,
      opOfTx,
      malformed,
      sweeps,
      blocked,
      faults,
      alarms,
      logged,
    };
  };
  return { see, finish };
}
