/** How invocations and outcomes become operations; the part of the digest that pairs lines. */
import { isLeaseCall, type LeaseArgs } from './calls.ts';
import type { Invoke, Fail, Info, Ok } from './events.ts';
import { knownToken, type Intern } from './facts.ts';
import {
  storyOf,
  type ClaimOp,
  type Digest,
  type Enqueue,
  type Grant,
  type JobStory,
  type Op,
  type ReapOp,
} from './story.ts';

export type OpenOps = {
  ops: Op[];
  claims: ClaimOp[];
  reaps: ReapOp[];
  jobs: Map<string, JobStory>;
  keys: Map<string, Enqueue[]>;
  unknownKeys: Set<string>;
  opOfTx: Map<string, Op>;
  /** Operations whose outcome has not been read yet. */
  open: Map<string, Op>;
  closed: Set<string>;
  intern: Intern;
  malformed: Digest['malformed'][number][];
};

/** Takes in an invocation. */
export function openOp(state: OpenOps, event: Invoke, line: number): void {
  if (state.open.has(event.op) || state.closed.has(event.op)) {
    state.malformed.push(`line ${line + 1}: operation ${event.op} is invoked twice`);
    return;
  }
  const op: Op = {
    id: event.op,
    proc: state.intern(event.proc),
    pid: event.pid,
    f: event.f,
    line,
    endLine: line,
    startNs: event.ns,
    endNs: Infinity,
    end: 'info',
    reason: null,
    fromUs: NaN,
    atUs: NaN,
    tx: null,
    job: null,
    token: null,
    to: null,
    already: false,
    untilUs: null,
    enqueues: null,
  };
  switch (event.f) {
    case 'enqueue':
      op.enqueues = event.args.jobs.map(({ key, kind, priority, dueUs }) => ({
        op,
        key,
        kind,
        priority,
        dueUs: dueUs ?? null,
        job: null,
        created: false,
      }));
      for (const one of op.enqueues) {
        const same = state.keys.get(one.key);
        if (same === undefined) state.keys.set(one.key, [one]);
        else same.push(one);
      }
      break;
    case 'claim': {
      const { kinds, limit, ttlSeconds, heldMs = 0 } = event.args;
      const claim = Object.assign(op, { kinds, limit, ttlSeconds, heldMs, grants: [] });
      state.claims.push(claim);
      break;
    }
    case 'reap': {
      const reap = Object.assign(op, { limit: event.args.limit, reaped: 0, dead: 0, skipped: [] });
      state.reaps.push(reap);
      break;
    }
    case 'promote':
    case 'replay':
      break;
    default:
      recordCall(state, op, event.args);
  }
  state.ops.push(op);
  state.open.set(op.id, op);
}

function recordCall(state: OpenOps, op: Op, { job, token }: LeaseArgs): void {
  const story = storyOf(state.jobs, job);
  op.job = story.job;
  op.token = knownToken(story, token);
  story.calls.push(op);
}

/** Takes in an outcome. */
export function closeOp(state: OpenOps, event: Ok | Fail | Info, line: number): void {
  const op = state.open.get(event.op);
  if (op?.f !== event.f || op.proc !== event.proc) {
    const why = state.closed.has(event.op) ? 'has a second outcome' : 'was never invoked';
    state.malformed.push(`line ${line + 1}: operation ${event.op} ${why}`);
    return;
  }
  state.open.delete(event.op);
  state.closed.add(op.id);
  op.endLine = line;
  op.end = event.is;
  if (event.is === 'info') return;
  op.endNs = event.ns;
  op.fromUs = event.fromUs ?? NaN;
  op.atUs = event.atUs ?? NaN;
  op.tx = event.tx ?? null;
  if (event.is === 'fail') {
    op.reason = state.intern(event.reason);
    return;
  }
  if (op.tx !== null) state.opOfTx.set(op.tx, op);
  accept(state, op, event);
}

function accept(state: OpenOps, op: Op, event: Ok): void {
  switch (event.f) {
    case 'enqueue':
      op.enqueues?.forEach((one, index) => {
        const result = event.answer.results[index];
        if (result?.job === undefined) return;
        one.job = result.job;
        one.created = result.created;
        storyOf(state.jobs, result.job).enqueues.push(one);
      });
      break;
    case 'claim': {
      const claim = op as ClaimOp;
      claim.grants = event.answer.jobs.map((granted): Grant => {
        const { token, untilUs, priority, attempts, enqueuedUs, key } = granted;
        const { job, grants } = storyOf(state.jobs, granted.job);
        const kind = state.intern(granted.kind);
        const grant = { op: claim, job, token, untilUs, kind, priority, attempts, enqueuedUs, key };
        grants.push(grant);
        return grant;
      });
      break;
    }
    case 'reap':
      Object.assign(op, event.answer);
      break;
    case 'replay':
      op.job = event.answer.job;
      storyOf(state.jobs, event.answer.job).calls.push(op);
      break;
    case 'promote':
      break;
    default:
      if (!isLeaseCall(event.f)) break;
      op.to = state.intern(event.answer.to);
      op.already = event.answer.already ?? false;
      op.untilUs = event.answer.untilUs ?? null;
  }
}
