/**
 * Each call as one SQL statement that also reads the server's clock before and after the function,
 * and the transaction it ran in. A target list is evaluated from left to right, so the clock readings
 * enclose the call.
 */
import type { Calls, Fn, Granted, LeaseAnswer } from '../../history/calls.ts';

/** Microseconds since 1970 of a timestamptz expression; 13 and later agree to the microsecond. */
export const us = (expression: string): string =>
  `(extract(epoch from ${expression}) * 1000000)::bigint`;

export type Statement = { name: string; text: string; values: unknown[] };
/** bigint arrives as text. */
export type Answered = { from_us: string; at_us: string; tx: string | null; answer: unknown };

/** The name of the function stands first, where a glance at the running statement finds it. */
function around(call: string): string {
  return (
    `/* ${/fn_job_[a-z_]+/.exec(call)?.[0] ?? ''} */ select ${us('clock_timestamp()')} as from_us, ${call} as answer, ` +
    `${us('clock_timestamp()')} as at_us, pg_current_xact_id_if_assigned()::text as tx`
  );
}

const granted = (from: string): string =>
  around(`(
    select coalesce(jsonb_agg(jsonb_build_object(
      'job', c.job_id, 'token', c.lease_token, 'untilUs', ${us('c.leased_until')},
      'kind', c.job_kind, 'priority', c.priority, 'attempts', c.attempts,
      'maxAttempts', c.max_attempts, 'enqueuedUs', ${us('c.enqueued_at')},
      'key', c.payload ->> 'key')), '[]'::jsonb)
      from ${from} c)`);

const texts = {
  enqueue: around('fn_job_enqueue($1, $2, $3, $4, $5::jsonb, $6, $7::timestamptz)'),
  enqueue_batch: around('fn_job_enqueue_batch($1::jsonb)'),
  claim: granted('fn_job_claim($1::text[], $2, $3, $4)'),
  claim_batch: granted('fn_job_claim_batch($1::text[], $2, $3, $4, $5)'),
  progress: around('fn_job_progress($1::uuid, $2::uuid)'),
  renew: `/* fn_job_lease_renew */ select s.from_us, s.at_us, s.tx, s.answer ||
      jsonb_build_object('until_us', ${us("(s.answer ->> 'leased_until')::timestamptz")}) as answer
    from (${around('fn_job_lease_renew($1::uuid, $2::uuid, $3)')} offset 0) s`,
  succeed: around('fn_job_succeed($1::uuid, $2::uuid)'),
  fail_transient: around("fn_job_fail_transient($1::uuid, $2::uuid, 'timeout', 'no answer')"),
  fail_permanent: around("fn_job_fail_permanent($1::uuid, $2::uuid, 'rejected', 'not to be done')"),
  reap: around('fn_job_lease_reaper($1)'),
  promote: around('fn_job_promote_due($1)'),
} as const;

const domain = 'compliance';
const executor = 'dot_iu';

/** The statement of a call; `holder` names the process in the lease. */
export function statementOf<F extends Fn>(f: F, args: Calls[F]['args'], holder: string): Statement {
  const call = { f, args } as { [K in Fn]: { f: K; args: Calls[K]['args'] } }[Fn];
  switch (call.f) {
    case 'enqueue': {
      const jobs = call.args.jobs.map(({ key, kind, priority, dueUs }) => ({
        job_kind: kind,
        event_domain: domain,
        executor,
        idempotency_key: key,
        payload: { key },
        priority,
        ...(dueUs !== undefined && { process_after: new Date(dueUs / 1000).toISOString() }),
      }));
      const [only] = jobs;
      if (only === undefined || jobs.length > 1)
        return prepared('enqueue_batch', [JSON.stringify(jobs)]);
      const { job_kind, idempotency_key, payload, priority, process_after = null } = only;
      const named = [job_kind, domain, executor, idempotency_key, JSON.stringify(payload)];
      return prepared('enqueue', [...named, priority, process_after]);
    }
    case 'claim': {
      const { kinds, limit, ttlSeconds } = call.args;
      const common = [kinds, null, holder, ttlSeconds];
      return limit === 1 ? prepared('claim', common) : prepared('claim_batch', [...common, limit]);
    }
    case 'renew':
      return prepared('renew', [call.args.job, call.args.token, call.args.ttlSeconds]);
    case 'reap':
    case 'promote':
      return prepared(call.f, [call.args.limit]);
    case 'replay':
      throw new Error('no scenario replays a dead letter');
    default:
      return prepared(call.f, [call.args.job, call.args.token]);
  }
}

function prepared(name: keyof typeof texts, values: unknown[]): Statement {
  return { name, text: texts[name], values };
}

/** The answer as the history records it; a text is the code of a refusal. */
export function answerOf<F extends Fn>(
  f: F,
  raw: unknown,
  limit: number,
): Calls[F]['answer'] | string {
  return read(f, raw, limit) as Calls[F]['answer'] | string;
}

type Json = Record<string, unknown>;

function read(f: Fn, raw: unknown, jobs: number): unknown {
  if (f === 'claim') return { jobs: raw as Granted[] };
  const answer = raw as Json;
  if (answer.refused === true) return String(answer.reason);
  switch (f) {
    case 'enqueue': {
      const results = Array.isArray(answer.results) ? (answer.results as Json[]) : [answer];
      if (results.length !== jobs)
        throw new Error(`${jobs} jobs were enqueued and ${results.length} results came back`);
      return { results: results.map(enqueued) };
    }
    case 'reap':
      return {
        reaped: answer.reaped,
        dead: answer.dead_lettered,
        skipped: (answer.skipped as { job_id: string }[]).map(({ job_id: id }) => id),
      };
    case 'promote':
      return { promoted: answer.promoted };
    default:
      return leaseAnswer(answer);
  }
}

function enqueued(result: Json): unknown {
  if (result.refused === true) return { refused: String(result.reason) };
  const finished = result.finished === true ? { finished: true } : {};
  return { job: result.job_id, created: result.created, ...finished };
}

function leaseAnswer(answer: Json): LeaseAnswer {
  const { status_from: from, status_to: to, attempts, until_us: untilUs } = answer;
  return {
    from: String(from),
    to: String(to),
    attempts: Number(attempts),
    ...(typeof untilUs === 'number' && { untilUs }),
    ...(answer.already_applied === true && { already: true }),
  };
}
