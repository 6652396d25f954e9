/**
 * A set of jobs of which some are poisoned: a trigger raises whenever one of them is written to a
 * chosen table. What each set-based function is called with, and which rows it then ought to work.
 */
import type { Session } from '../../types.ts';
import { build } from './stage.ts';

export const works = ['claim', 'claim_due', 'reap', 'promote', 'enqueue'] as const;
export type Work = (typeof works)[number];
const tables = [
  'job_queue',
  'dot_iu_command_run',
  'dot_iu_runtime_lease',
  'job_dead_letter',
] as const;
export type Table = (typeof tables)[number];

/** The tables that a function writes, so that poison in them stops it. */
export const written: Readonly<Record<Work, readonly Table[]>> = {
  claim: ['job_queue', 'dot_iu_command_run', 'dot_iu_runtime_lease'],
  claim_due: ['job_queue'],
  reap: tables,
  promote: ['job_queue', 'dot_iu_command_run'],
  enqueue: ['job_queue', 'dot_iu_command_run'],
};

export type Case = {
  work: Work;
  /** Where writing a poisoned row raises. */
  table: Table;
  /** Job by job, best placed first: is it poisoned? */
  poisoned: readonly boolean[];
  limit: number;
  kinds: number;
};

export type Job = {
  key: string;
  kind: string;
  /** For `reap`: at its maximum, so it dies. For what is due: retry_waiting, and not merely queued. */
  second: boolean;
};

export function jobsOf({ poisoned, kinds }: Case): Job[] {
  return poisoned.map((_, index) => ({
    key: `job_${index}`,
    kind: `kind_${index % kinds}${index % 2 === 1 ? '_second' : ''}`,
    second: index % 2 === 1,
  }));
}

/** Does the poison keep this job from being worked? Only half of the jobs write to every table. */
export function isStopped({ work, table, poisoned }: Case, job: Job, index: number): boolean {
  if (poisoned[index] !== true || !written[work].includes(table)) return false;
  // Making a queued job claimable is no transition, so it has no audit row.
  const onlySeconds =
    (work === 'reap' && table === 'job_dead_letter') ||
    (work === 'promote' && table === 'dot_iu_command_run');
  return job.second || !onlySeconds;
}

/** Built once: the triggers raise for keys that stand in kit.poisoned. */
export const POISON = [
  'create schema kit',
  'create table kit.poisoned (key text not null, relation text not null)',
  `create function kit.poison() returns trigger language plpgsql security definer as $kit$
   declare
     v_row jsonb := to_jsonb(case tg_op when 'DELETE' then old else new end);
     v_key text;
   begin
     v_key := case tg_table_name
       when 'job_queue' then v_row ->> 'idempotency_key'
       else (select q.idempotency_key
               from public.job_queue q
              where q.job_id = coalesce(v_row ->> 'job_id', substr(v_row ->> 'lease_name', 5))::uuid)
     end;
     if exists (select 1 from kit.poisoned p where p.key = v_key and p.relation = tg_table_name) then
       raise exception 'poisoned' using errcode = 'P0007';
     end if;
     return case tg_op when 'DELETE' then old else new end;
   end
   $kit$`,
  ...tables.map(
    (table) =>
      `create trigger poison before insert or update or delete on public.${table}
       for each row execute function kit.poison()`,
  ),
];

/** The statements that bring the jobs to where the function finds them; then the poison. */
export function stepsTo(one: Case): string[] {
  const jobs = jobsOf(one);
  const kinds = [...new Set(jobs.map(({ kind }) => kind))];
  const seconds = kinds.filter((kind) => kind.endsWith('_second'));
  const enqueue = `select public.fn_job_enqueue_batch('${itemsOf(one)}', 'tester')`;
  const hold = (some: readonly string[]): string[] =>
    some.length === 0
      ? []
      : [
          `select c.job_id from public.fn_job_claim_batch(${arrayText(some)}, null, 'worker', null, ${jobs.length}) c`,
        ];
  const place = `substr(q.idempotency_key, 5)::int`;
  const poison = jobs.flatMap(({ key }, index) =>
    one.poisoned[index] === true ? [`('${key}', '${one.table}')`] : [],
  );
  const due = [
    enqueue,
    ...hold(seconds),
    `select public.fn_job_fail_transient(q.job_id, q.lease_token, 'E', 'm')
       from public.job_queue q where q.status = 'leased'`,
    `update public.job_queue q
        set claimable = false, process_after = clock_timestamp() - interval '1 day' + ${place} * interval '1 s'
      where q.status in ('queued', 'retry_waiting')`,
  ];
  const before: Readonly<Record<Work, readonly string[]>> = {
    enqueue: [],
    claim_due: due,
    claim: [enqueue],
    reap: [
      ...seconds.map(
        (kind) => `select public.fn_job_config_set('queue.retry.max_attempts.${kind}', '1')`,
      ),
      enqueue,
      ...hold(kinds),
      `update public.job_queue q
          set leased_at = q.leased_at - interval '1 day' + ${place} * interval '1 s',
              leased_until = q.leased_until - interval '1 day' + ${place} * interval '1 s'`,
    ],
    promote: due,
  };
  return [
    ...before[one.work],
    ...(poison.length === 0 ? [] : [`insert into kit.poisoned values ${poison.join(', ')}`]),
  ];
}

function arrayText(kinds: readonly string[]): string {
  return `array[${kinds.map((kind) => `'${kind}'`).join(', ')}]`;
}

/** Best placed first: by priority. */
function itemsOf(one: Case): string {
  return JSON.stringify(
    jobsOf(one).map(({ key, kind }, index) => ({
      job_kind: kind,
      event_domain: 'tests',
      executor: 'dot_iu',
      idempotency_key: key,
      payload: {},
      priority: -index,
    })),
  );
}

/** The call that is made twice. */
export function callOf(one: Case): string {
  const kinds = arrayText([...new Set(jobsOf(one).map(({ kind }) => kind))]);
  switch (one.work) {
    case 'claim':
    case 'claim_due':
      return `select coalesce(jsonb_agg(c.job_id), '[]') as answer
        from public.fn_job_claim_batch(${kinds}, null, 'worker', null, ${one.limit}) c`;
    case 'reap':
      return `select public.fn_job_lease_reaper(${one.limit}) as answer`;
    case 'promote':
      return `select public.fn_job_promote_due(${one.limit}) as answer`;
    case 'enqueue':
      return `select public.fn_job_enqueue_batch('${itemsOf(one)}', 'tester') as answer`;
  }
}

export type Row = {
  key: string;
  job_id: string;
  status: string;
  row: string;
  audited: string;
  mirrored: boolean;
};

/** Every job as it stands, with how much audit it has and whether it has a mirror, by key. */
export async function rowsOf(session: Session): Promise<Map<string, Row>> {
  const rows = await session.query<Row>(`
    select q.idempotency_key as key,
           q.job_id::text as job_id,
           q.status,
           q::text as row,
           (select count(*) from public.dot_iu_command_run r where r.job_id = q.job_id) as audited,
           exists (select 1 from public.dot_iu_runtime_lease l where l.lease_name = 'job:' || q.job_id) as mirrored
      from public.job_queue q`);
  return new Map(rows.map((row) => [row.key, row]));
}

export async function stage(session: Session, one: Case): Promise<void> {
  await build(session, stepsTo(one));
}
