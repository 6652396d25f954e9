/**
 * A queue in memory that keeps every rule of the contract: the source of valid histories for the
 * judges' tests. It stands for no server and no check uses it.
 */
import type { Enqueued, Granted, LeaseAnswer, LeaseCall, NewJob, Us } from '../calls.ts';
import type { Audit, Change, DeadLetter, Emitted, Row, RunConfig, Sweep } from '../events.ts';
import type { Random } from '../random.ts';

type Job = {
  row: Row;
  claimable: boolean;
  dueUs: Us;
  token: string | null;
  ended: { token: string; by: string; answer: LeaseAnswer } | null;
};
/** Whose call changes the queue, and when. */
export type Call = { by: string; tx: string; nowUs: Us };
export type Queue = ReturnType<typeof queue>;

/** An empty queue. */
export function queue(config: RunConfig, rnd: Random) {
  const jobs = new Map<string, Job>();
  const byKey = new Map<string, Job>();
  const open = new Set<Job>();
  const changes: Change[] = [];
  const audits: Audit[] = [];
  const deadLetters: DeadLetter[] = [];
  const emitted: Emitted[] = [];
  const sweeps: Sweep[] = [];

  const most = ({ row }: Job): number =>
    config.maxAttempts.byKind[row.kind] ?? config.maxAttempts.default;

  /** Applies a change to a row; the trigger's log and the audit follow from it. */
  const change = (
    job: Job,
    { by, tx, nowUs }: Call,
    to: string,
    set: Partial<Job> & { untilUs?: Us | null },
  ): void => {
    const { row } = job;
    const was = {
      from: row.status === '' ? null : row.status,
      tokenWas: job.token,
      untilWasUs: row.untilUs,
    };
    const { untilUs, ...rest } = set;
    Object.assign(job, { claimable: false }, rest);
    row.status = to;
    if (untilUs !== undefined) row.untilUs = untilUs;
    const base = { job: row.job, atUs: nowUs };
    changes.push({
      is: 'change',
      seq: changes.length + 1,
      ...base,
      tx,
      by,
      to,
      claimable: job.claimable,
      attempts: row.attempts,
      token: job.token,
      untilUs: row.untilUs,
      ...was,
    });
    const path = was.from === 'leased' && to === 'succeeded' ? ['in_progress', to] : [to];
    path.reduce((from, step) => {
      if (by !== 'fn_job_lease_renew')
        audits.push({
          is: 'audit',
          seq: audits.length + 1,
          ...base,
          command: by,
          from,
          to: step,
          attempt: row.attempts,
          refused: false,
          reason: null,
        });
      return step;
    }, was.from);
    const warn = (type: string): void => {
      emitted.push({ is: 'emitted', job: row.job, type, severity: 'warning', atUs: nowUs });
    };
    if (by === 'fn_job_lease_reaper') warn('queue_lease_reaped');
    if (to === 'dead_letter') warn('queue_job_dead_lettered');
    if (to === 'succeeded' || to === 'dead_letter') open.delete(job);
  };

  const enqueue = (wanted: NewJob, call: Call): Enqueued => {
    const known = byKey.get(wanted.key);
    if (known !== undefined) return { job: known.row.job, created: false };
    const job: Job = {
      row: {
        is: 'row',
        job: rnd.uuid(),
        key: wanted.key,
        kind: wanted.kind,
        priority: wanted.priority,
        status: '',
        attempts: 0,
        enqueuedUs: call.nowUs,
        untilUs: null,
      },
      claimable: false,
      dueUs: wanted.dueUs ?? call.nowUs,
      token: null,
      ended: null,
    };
    jobs.set(job.row.job, job);
    byKey.set(wanted.key, job);
    open.add(job);
    change(job, call, 'queued', { claimable: wanted.dueUs === undefined });
    return { job: job.row.job, created: true };
  };

  const claim = (
    kinds: readonly string[],
    limit: number,
    ttlSeconds: number,
    call: Call,
  ): Granted[] => {
    const wanted = [...open].filter(({ row }) => kinds.includes(row.kind));
    for (const job of wanted)
      if (isWaiting(job) && job.dueUs <= call.nowUs)
        change(job, call, 'queued', { claimable: true });
    const ready = wanted.filter(({ claimable }) => claimable).sort(inOrder);
    return ready.slice(0, limit).map((job) => {
      const { row } = job;
      row.attempts += 1;
      const token = rnd.uuid();
      const untilUs = call.nowUs + ttlSeconds * 1e6;
      change(job, call, 'leased', { token, untilUs });
      const { job: id, kind, priority, attempts, enqueuedUs, key } = row;
      return {
        job: id,
        token,
        untilUs,
        kind,
        priority,
        attempts,
        maxAttempts: most(job),
        enqueuedUs,
        key,
      };
    });
  };

  const lease = (f: LeaseCall, id: string, token: string, call: Call): LeaseAnswer | string => {
    const job = jobs.get(id);
    if (job === undefined) return 'job_not_found';
    const { row, ended } = job;
    if (ended?.token === token && ended.by === f) return { ...ended.answer, already: true };
    const refusal = refusalOf(job, token, call.nowUs);
    if (refusal !== undefined) {
      audits.push({
        is: 'audit',
        seq: audits.length + 1,
        job: id,
        command: call.by,
        from: null,
        to: null,
        attempt: null,
        refused: true,
        reason: refusal,
        atUs: call.nowUs,
      });
      return refusal;
    }
    const from = row.status;
    if (f === 'progress') change(job, call, 'in_progress', {});
    else if (f === 'renew') {
      const untilUs = Math.max(row.untilUs ?? 0, call.nowUs + config.ttlSeconds.default * 1e6);
      change(job, call, from, { untilUs });
      return { from, to: from, attempts: row.attempts, untilUs };
    } else end(job, f, call);
    const answer = { from, to: row.status, attempts: row.attempts };
    if (f !== 'progress') job.ended = { token, by: f, answer };
    return answer;
  };

  const end = (job: Job, f: LeaseCall | 'reap', call: Call): void => {
    const over = { token: null, untilUs: null };
    if (f === 'succeed') {
      change(job, call, 'succeeded', over);
      return;
    }
    if (f !== 'fail_permanent' && job.row.attempts < most(job)) {
      const dueUs = call.nowUs + rnd.int(1, 50) * 1e4;
      change(job, call, 'retry_waiting', { ...over, dueUs });
      return;
    }
    change(job, call, 'dead_letter', over);
    deadLetters.push({ is: 'dead_letter', id: rnd.uuid(), job: job.row.job, code: f, open: true });
  };

  const reap = (limit: number, call: Call) => {
    let [reaped, dead] = [0, 0];
    for (const job of open) {
      if (job.row.untilUs === null || job.row.untilUs > call.nowUs || reaped + dead >= limit)
        continue;
      end(job, 'reap', call);
      if (job.row.status === 'dead_letter') dead += 1;
      else reaped += 1;
    }
    sweeps.push({
      is: 'sweep',
      id: sweeps.length + 1,
      command: call.by,
      startedUs: call.nowUs,
      finishedUs: call.nowUs,
    });
    return { reaped, dead, skipped: [] };
  };

  const finals = () => {
    const rows = [...jobs.values()].map(({ row }) => row);
    return [...rows, ...deadLetters, ...changes, ...audits, ...emitted, ...sweeps];
  };
  return {
    enqueue,
    claim,
    lease,
    reap,
    finals,
    isDrained: () => open.size === 0,
    backlog: () => open.size,
  };
}

function isWaiting({ row, claimable }: Job): boolean {
  return row.status === 'retry_waiting' || (row.status === 'queued' && !claimable);
}

function inOrder(a: Job, b: Job): number {
  const [x, y] = [a.row, b.row];
  return y.priority - x.priority || x.enqueuedUs - y.enqueuedUs || (x.job < y.job ? -1 : 1);
}

function refusalOf({ row, token: current }: Job, token: string, nowUs: Us): string | undefined {
  if (['succeeded', 'dead_letter'].includes(row.status)) return 'already_terminal';
  if (current === null) return 'not_leased';
  if (current !== token) return 'lease_token_mismatch';
  return (row.untilUs ?? 0) <= nowUs ? 'lease_expired' : undefined;
}
