/**
 * Property `maximum` (§8.1, D18): the maximum that counts is the one in force when a lease ends,
 * whatever it was when the lease was granted. A waiting job at or above it is claimed once more, and
 * that lease's failure is its last.
 */
import fc from 'fast-check';
import { messageOf } from '../../errors.ts';
import type { Observation, Session } from '../../types.ts';
import { assertions, count, type Finding } from './findings.ts';
import type { Given } from './given.ts';
import type { MaximumFile } from './schema.ts';
import { search, type Problem } from './search.ts';
import { build, openStage, undone } from './stage.ts';

const COUNTS = 'a failure kills a job exactly when its attempts have reached the maximum in force';
const ONCE = 'a waiting job at or above a lowered maximum runs once more, and no more';

const ends = {
  failure: `select public.fn_job_fail_transient(q.job_id, q.lease_token, 'E', 'm')
    from public.job_queue q where q.status = 'leased'`,
  reaper: 'select public.fn_job_lease_reaper()',
} as const;
type End = keyof typeof ends;
/** A job that has had `before` leases under a high maximum, and then meets `maximum`. */
type Case = { end: End; before: number; held: boolean; perKind: boolean; maximum: number };

const HIGH = 10_000;

export async function* maximum({
  data,
  sandbox,
  run,
}: Given<MaximumFile>): AsyncGenerator<Observation> {
  const setup = [
    `select public.fn_job_config_set('queue.retry.max_attempts.default', '${HIGH}', 'tester')`,
    `select public.fn_job_enqueue('job', 'tests', 'dot_iu', 'job', '{}')`,
  ];
  await using session = await openStage(sandbox, 'maximum', setup);
  const found = await search<Case>(
    {
      hostile: [],
      random: fc.record({
        end: fc.constantFrom('failure' as const, 'reaper' as const),
        before: fc.integer({ min: 1, max: data.attempts }),
        held: fc.boolean(),
        perKind: fc.boolean(),
        maximum: fc.integer({ min: 1, max: data.attempts + 1 }),
      }),
      runs: data.runs,
      run,
    },
    (one) => undone(session, () => judged(session, one)),
  );
  yield count('cases', found.tried);
  const findings: Finding[] = [];
  if (found.counterexample !== undefined) {
    const { value, problem } = found.counterexample;
    findings.push({ ...problem, sql: stepsOf(value) });
  }
  yield* assertions([COUNTS, ONCE], findings, { setup, seed: run.seed });
}

const CLAIM = `select c.attempts from public.fn_job_claim(array['job'], null, 'worker') c`;
const MAKE_DUE = `update public.job_queue q set process_after = clock_timestamp() - interval '1 s'
  where q.status = 'retry_waiting'`;

/** One lease to its end, by failure or by expiry. */
function endOf(end: End): string[] {
  const expire = `update public.job_queue q
    set leased_at = q.leased_at - interval '1 day', leased_until = q.leased_until - interval '1 day'
    where q.status = 'leased'`;
  return end === 'reaper' ? [expire, ends.reaper] : [ends.failure];
}

/** Until the lease that is judged is held: the maximum changes while the job runs, or while it waits. */
function stepsOf({ end, before, held, perKind, maximum: limit }: Case): string[] {
  const key = perKind ? 'job' : 'default';
  const lower = `select public.fn_job_config_set('queue.retry.max_attempts.${key}', '${limit}', 'tester')`;
  const leases = Array.from({ length: held ? before - 1 : before }, () => [
    CLAIM,
    ...endOf(end),
    MAKE_DUE,
  ]).flat();
  return [...leases, ...(held ? [CLAIM, lower] : [lower, CLAIM]), ...endOf(end)];
}

async function judged(session: Session, one: Case): Promise<Problem | undefined> {
  try {
    await build(session, stepsOf(one));
  } catch (error) {
    return { breaks: COUNTS, expected: 'an answer', seen: messageOf(error) };
  }
  const [row] = await session.query<{ status: string; attempts: number }>(
    'select q.status, q.attempts from public.job_queue q',
  );
  const attempts = one.held ? one.before : one.before + 1;
  const status = attempts >= one.maximum ? 'dead_letter' : 'retry_waiting';
  if (row?.status === status && row.attempts === attempts) return undefined;
  return {
    breaks: !one.held && one.before >= one.maximum ? ONCE : COUNTS,
    expected: `${status} after ${attempts} attempts`,
    seen: `${row?.status ?? 'nothing'} after ${row?.attempts ?? 0}, maximum ${one.maximum}, ended by ${one.end}`,
  };
}
