/**
 * Property `lost-event` (§15.5): when the event of a job cannot be written, the transition happens all
 * the same, its audit row says event_lost and the gap view names the job; the events of the others are
 * there. Which jobs, by which function and how many at once is generated.
 */
import fc from 'fast-check';
import { messageOf } from '../../errors.ts';
import type { Observation, Session } from '../../types.ts';
import { assertions, count, type Finding } from './findings.ts';
import type { Given } from './given.ts';
import type { LostEventFile } from './schema.ts';
import { search, type Problem } from './search.ts';
import { build, openStage, undone } from './stage.ts';

const MOVED = 'every transition happens, whether or not its event can be written';
const NAMED = 'a lost event stands in the audit row and in the gap view, and no other does';
const THERE = 'the events that can be written are there';

const ways = {
  fn_job_lease_reaper: 'select public.fn_job_lease_reaper()',
  fn_job_fail_transient: call('fn_job_fail_transient', `q.lease_token, 'E', 'm'`),
  fn_job_fail_permanent: call('fn_job_fail_permanent', `q.lease_token, 'E', 'm'`),
  fn_job_move_to_dead_letter: call('fn_job_move_to_dead_letter', `'E', 'm'`),
} as const;
type Way = keyof typeof ways;
type Job = { lost: boolean; atMaximum: boolean };
type Case = { way: Way; jobs: readonly Job[] };

function call(fn: string, args: string): string {
  return `select public.${fn}(q.job_id, ${args}) from public.job_queue q order by q.idempotency_key`;
}

const SETUP = [
  'create schema kit',
  'create table kit.lost (key text not null)',
  `create function kit.lose() returns trigger language plpgsql security definer as $kit$
   begin
     if exists (select 1 from kit.lost l join public.job_queue q on q.idempotency_key = l.key
                 where q.job_id = (new.payload ->> 'job_id')::uuid) then
       raise exception 'the event is lost' using errcode = 'P0008';
     end if;
     return new;
   end
   $kit$`,
  `create trigger lose before insert on public.event_pending for each row execute function kit.lose()`,
  `select public.fn_job_config_set('queue.retry.max_attempts.at_maximum', '1', 'tester')`,
];

export async function* lostEvent({
  data,
  sandbox,
  run,
}: Given<LostEventFile>): AsyncGenerator<Observation> {
  await using session = await openStage(sandbox, 'lost event', SETUP);
  const job = fc.record({ lost: fc.boolean(), atMaximum: fc.boolean() });
  const names = Object.keys(ways) as Way[];
  const one = (lost: boolean, atMaximum: boolean): Job => ({ lost, atMaximum });
  const found = await search<Case>(
    {
      hostile: names.flatMap((way) => [
        { way, jobs: [one(true, true)] },
        { way, jobs: [one(true, false)] },
        { way, jobs: [one(false, true), one(true, true), one(false, false), one(true, false)] },
      ]),
      random: fc.record({
        way: fc.constantFrom(...names),
        jobs: fc.array(job, { minLength: 1, maxLength: data.jobs }),
      }),
      runs: data.runs,
      run,
    },
    (value) => undone(session, () => judged(session, value)),
  );
  yield count('cases', found.tried);
  const findings: Finding[] = [];
  if (found.counterexample !== undefined) {
    const { value, problem } = found.counterexample;
    const sql = [...stepsTo(value), ways[value.way]];
    findings.push({ ...problem, seen: `${value.way}: ${problem.seen}`, sql });
  }
  yield* assertions([MOVED, NAMED, THERE], findings, { setup: SETUP, seed: run.seed });
}

function keyOf(index: number): string {
  return `job_${index}`;
}

function stepsTo({ way, jobs }: Case): string[] {
  const items = jobs.map(({ atMaximum }, index) => ({
    job_kind: atMaximum ? 'at_maximum' : 'below',
    event_domain: 'tests',
    executor: 'dot_iu',
    idempotency_key: keyOf(index),
    payload: {},
  }));
  const lost = jobs.flatMap((job, index) => (job.lost ? [`('${keyOf(index)}')`] : []));
  return [
    `select public.fn_job_enqueue_batch('${JSON.stringify(items)}', 'tester')`,
    `select c.job_id from public.fn_job_claim_batch(array['at_maximum', 'below'], null, 'worker', null, ${jobs.length}) c`,
    ...(way === 'fn_job_lease_reaper'
      ? [
          `update public.job_queue q
              set leased_at = q.leased_at - interval '1 day', leased_until = q.leased_until - interval '1 day'`,
        ]
      : []),
    ...(lost.length === 0 ? [] : [`insert into kit.lost values ${lost.join(', ')}`]),
  ];
}

type Row = { status: string; flagged: boolean; named: boolean; events: string };

async function judged(session: Session, one: Case): Promise<Problem | undefined> {
  await build(session, stepsTo(one));
  try {
    await build(session, [ways[one.way]]);
  } catch (error) {
    return { breaks: MOVED, expected: 'an answer', seen: messageOf(error) };
  }
  const rows = await session.query<Row>(ROWS);
  for (const [index, job] of one.jobs.entries()) {
    const row = rows[index];
    const due = dueOf(one.way, job);
    const compare = (breaks: string, expected: unknown, seen: unknown): Problem | undefined =>
      expected === seen
        ? undefined
        : { breaks, expected: `${keyOf(index)}: ${String(expected)}`, seen: String(seen) };
    const problem =
      compare(MOVED, due.status, row?.status) ??
      compare(NAMED, `lost: ${due.lost}`, `lost: ${row?.flagged ?? '-'}`) ??
      compare(NAMED, `named: ${due.lost}`, `named: ${row?.named ?? '-'}`) ??
      compare(THERE, due.events, row?.events);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function dueOf(
  way: Way,
  { lost, atMaximum }: Job,
): { status: string; lost: boolean; events: string } {
  const dies = atMaximum || way === 'fn_job_fail_permanent' || way === 'fn_job_move_to_dead_letter';
  const events = [
    ...(dies ? ['queue_job_dead_lettered'] : []),
    ...(way === 'fn_job_lease_reaper' ? ['queue_lease_reaped'] : []),
  ];
  return {
    status: dies ? 'dead_letter' : 'retry_waiting',
    lost: lost && events.length > 0,
    events: lost ? '' : events.join(' '),
  };
}

const ROWS = `
  select q.status,
         exists (select 1 from public.dot_iu_command_run r
                  where r.job_id = q.job_id and r.status_to = q.status and r.detail ? 'event_lost') as flagged,
         exists (select 1 from public.v_job_silent_gap g
                  where g.reason = 'event_lost' and g.job_id = q.job_id) as named,
         (select coalesce(string_agg(e.event_type, ' ' order by e.event_type collate "C"), '')
            from public.event_pending e
           where (e.payload ->> 'job_id')::uuid = q.job_id
             and e.event_domain = 'system'
             and e.severity = 'warning') as events
    from public.job_queue q
   order by length(q.idempotency_key), q.idempotency_key`;
