/**
 * Property `backoff` (§8.2): for any number of attempts and any base and cap that the configuration
 * takes, a failure and a reap are recorded, and the job is due within [0.8, 1.2] × LEAST(cap, raw) of
 * the failure. Rows are planted at their attempt counts; what process_after the calls give is judged.
 */
import fc from 'fast-check';
import { messageOf } from '../../errors.ts';
import type { Observation, Session } from '../../types.ts';
import { isWithin, delaySeconds, strategies, type Backoff } from './delay.ts';
import { assertions, count, type Finding } from './findings.ts';
import type { Given } from './given.ts';
import type { BackoffFile } from './schema.ts';
import { search, type Problem } from './search.ts';
import { isObject } from './shape.ts';
import { openStage, undone } from './stage.ts';

const RECORDED = 'every failure and every reap is recorded';
const WITHIN = 'the delay is within [0.8, 1.2] × LEAST(cap, raw)';
const AHEAD = 'no retry is due before now';
const JITTER = 'jitter differs row by row within one statement';

type Case = Backoff & { via: 'failure' | 'reaper'; attempts: readonly number[] };
type Row = {
  job: string;
  attempts: number;
  due: string;
  seconds: number;
  ahead: boolean;
  status: string;
};

export async function* backoff({
  data,
  sandbox,
  run,
}: Given<BackoffFile>): AsyncGenerator<Observation> {
  const setup = worldOf(data.attempts.length + data.more);
  await using session = await openStage(sandbox, 'backoff', setup);
  let rows = 0;
  const found = await search(
    {
      hostile: data.first.flatMap((one) => vias.map((via) => ({ ...one, via, attempts: [] }))),
      random: anyCase(data),
      runs: data.runs,
      run,
    },
    (one) =>
      undone(session, async () => {
        const attempts = [...data.attempts, ...one.attempts];
        rows += attempts.length;
        return judged(session, { ...one, attempts });
      }),
  );
  yield count('cases', found.tried);
  yield count('rows', rows);
  const findings: Finding[] = [];
  if (found.counterexample !== undefined) {
    const { value, problem } = found.counterexample;
    const attempts = [...data.attempts, ...value.attempts];
    findings.push({ ...problem, sql: sqlOf({ ...value, attempts }) });
  }
  yield* assertions([RECORDED, WITHIN, AHEAD, JITTER], findings, { setup, seed: run.seed });
}

const vias = ['failure', 'reaper'] as const;

/** Held jobs, of which each case plants the attempt counts. */
function worldOf(jobs: number): string[] {
  return [
    `select public.fn_job_config_set('queue.retry.max_attempts.default', '10000', 'tester')`,
    `select public.fn_job_enqueue('backoff', 'tests', 'dot_iu', 'job_' || n, '{}') from generate_series(1, ${jobs}) n`,
    `select c.job_id from public.fn_job_claim_batch(array['backoff'], null, 'worker', null, ${jobs}) c`,
    // A hand may have planted worse than what the queue itself allows: no attempt at all.
    `alter table public.job_queue drop constraint if exists job_queue_held_attempts_check`,
  ];
}

function sqlOf({ strategy, base, cap, via, attempts }: Case): string[] {
  const set = (key: string, value: string | number): string =>
    `select public.fn_job_config_set('queue.retry.backoff.${key}', '${value}', 'tester')`;
  return [
    set('strategy', strategy),
    set('base_seconds', base),
    set('cap_seconds', cap),
    `update public.job_queue q set attempts = (array[${attempts.join(', ')}])[substr(q.idempotency_key, 5)::int]
      where substr(q.idempotency_key, 5)::int <= ${attempts.length}`,
    ...(via === 'failure'
      ? [
          `select public.fn_job_fail_transient(q.job_id, q.lease_token, 'E', 'it failed') as answer
             from public.job_queue q where q.job_kind = 'backoff'`,
        ]
      : [
          `update public.job_queue q
              set leased_at = q.leased_at - interval '1 hour', leased_until = q.leased_until - interval '1 hour'`,
          'select public.fn_job_lease_reaper()',
        ]),
  ];
}

async function judged(session: Session, one: Case): Promise<Problem | undefined> {
  let last: Record<string, unknown>[] = [];
  try {
    for (const sql of sqlOf(one)) last = await session.query(sql);
  } catch (error) {
    return { breaks: RECORDED, expected: 'no raw error', seen: messageOf(error) };
  }
  const rows = await session.query<Row>(ROWS, [one.attempts.length]);
  const answers = new Map(last.map(({ answer }) => answerOf(answer)));
  for (const { job, attempts, due, seconds, ahead, status } of rows) {
    const at = `after attempt ${attempts}, by ${one.via}`;
    if (one.via === 'failure' && answers.get(job) !== due)
      return { breaks: RECORDED, expected: `due ${due}`, seen: `${answers.get(job) ?? '-'} ${at}` };
    if (status !== 'retry_waiting')
      return { breaks: RECORDED, expected: 'retry_waiting', seen: `${status} ${at}` };
    if (!ahead) return { breaks: AHEAD, expected: 'a time ahead', seen: `${seconds} s ${at}` };
    if (!isWithin(one, attempts, seconds))
      return {
        breaks: WITHIN,
        expected: `0.8 to 1.2 × ${delaySeconds(one, attempts)} s`,
        seen: `${seconds} s ${at}`,
      };
  }
  const jitter = rows.map(({ attempts, seconds }) =>
    Math.round((seconds / delaySeconds(one, Math.max(attempts, 1))) * 1e5),
  );
  const distinct = new Set(jitter).size;
  if (distinct > rows.length / 2) return undefined;
  return {
    breaks: JITTER,
    expected: `a factor of its own for each of ${rows.length} rows`,
    seen: `${distinct} different factors, by ${one.via}`,
  };
}

/** The job of an answer, and when it says that it is due. */
function answerOf(answer: unknown): [string, string] {
  return isObject(answer) ? [String(answer.job_id), String(answer.process_after)] : ['', ''];
}

/** Measured from the failure that the row tells of; the clock stands still in no function. */
const ROWS = `
  select q.job_id::text as job,
         q.attempts,
         to_jsonb(q.process_after) as due,
         extract(epoch from q.process_after - q.last_error_at)::float8 as seconds,
         q.process_after >= q.last_error_at as ahead,
         q.status
    from public.job_queue q
   where q.job_kind = 'backoff'
     and substr(q.idempotency_key, 5)::int <= $1
   order by q.attempts`;

/** Numbers at their limits as often as between them. */
function anyCase(data: BackoffFile): fc.Arbitrary<Case> {
  const within = ([min, max]: readonly [number, number]): fc.Arbitrary<number> =>
    fc.oneof(
      fc.constantFrom(min, min + 1, max - 1, max),
      fc.integer({ min, max: 7200 }),
      fc.integer({ min, max }),
    );
  return fc.record({
    strategy: fc.constantFrom(...strategies),
    base: within(data.base),
    cap: within(data.cap),
    via: fc.constantFrom(...vias),
    attempts: fc.array(fc.integer({ min: 0, max: data.most }), {
      minLength: data.more,
      maxLength: data.more,
    }),
  });
}
