/** What is read once, after the last worker has stopped: the end of every history. */
import type { Session } from '../../types.ts';
import { us } from './statements.ts';

/** Rows per round trip; the rest waits on the server. */
const PAGE = 5000;

/** A query whose rows are finished lines of JSON. */
function lines(is: string, fields: Readonly<Record<string, string>>, rest: string): string {
  const pairs = Object.entries(fields).map(([name, value]) => `'${name}', ${value}`);
  return `select json_build_object('is', '${is}', ${pairs.join(', ')})::text as line from ${rest}`;
}

const queries = [
  lines(
    'row',
    {
      job: 'q.job_id',
      key: 'q.idempotency_key',
      kind: 'q.job_kind',
      priority: 'q.priority',
      status: 'q.status',
      attempts: 'q.attempts',
      enqueuedUs: us('q.enqueued_at'),
      untilUs: us('q.leased_until'),
    },
    'public.job_queue q order by q.job_id',
  ),
  lines(
    'dead_letter',
    {
      id: 'd.dead_letter_id',
      job: 'd.job_id',
      code: 'd.failure_code',
      open: 'd.resolved_at is null',
    },
    'public.job_dead_letter d order by d.job_id, d.dead_letter_id',
  ),
  lines(
    'change',
    {
      seq: 'c.seq',
      job: 'c.job_id',
      tx: 'c.tx::text',
      by: "coalesce(substring(c.query from 'fn_job_[a-z_]+'), 'another statement')",
      atUs: us('c.at'),
      from: 'c.status_from',
      to: 'c.status_to',
      claimable: 'c.claimable',
      attempts: 'c.attempts',
      tokenWas: 'c.token_was',
      token: 'c.token',
      untilWasUs: us('c.until_was'),
      untilUs: us('c.until'),
    },
    'dieu45_watch.change c order by c.job_id, c.seq',
  ),
  lines(
    'audit',
    {
      seq: 'r.run_seq',
      job: 'r.job_id',
      command: 'r.command',
      from: 'r.status_from',
      to: 'r.status_to',
      attempt: 'r.attempt',
      refused: 'r.refused',
      reason: 'r.reason',
      atUs: us('r.run_at'),
    },
    'public.dot_iu_command_run r where r.job_id is not null order by r.job_id, r.run_seq',
  ),
  lines(
    'emitted',
    {
      job: "(e.payload ->> 'job_id')::uuid",
      type: 'e.event_type',
      severity: 'e.severity',
      atUs: us('e.occurred_at'),
    },
    `public.event_pending e where e.event_domain = 'system' and e.payload ? 'job_id'
      order by e.payload ->> 'job_id', e.occurred_at`,
  ),
  lines(
    'sweep',
    {
      id: 's.sweep_id',
      command: 's.command',
      startedUs: us('s.started_at'),
      finishedUs: us('s.finished_at'),
    },
    'public.job_sweep s order by s.sweep_id',
  ),
];

/** The lines of the final reads, all of one moment. Needs the planted log of `watch.ts`. */
export async function* finalLines(session: Session): AsyncGenerator<string> {
  await session.query('begin isolation level repeatable read read only');
  try {
    for (const query of queries) {
      await session.query(`declare finals no scroll cursor for ${query}`);
      for (let rows = PAGE; rows === PAGE;) {
        const page = await session.query<{ line: string }>(`fetch ${PAGE} from finals`);
        rows = page.length;
        for (const { line } of page) yield line;
      }
      await session.query('close finals');
    }
  } finally {
    await session.query('rollback');
  }
}
