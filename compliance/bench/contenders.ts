/**
 * What is measured: the queue, and the textbook queue beside it, which is one table, one UPDATE to
 * claim and one to complete, without lease, audit, mirror or refusal. The textbook is the ruler.
 */

export type Contender = {
  name: 'textbook' | 'dieu45';
  /** Empties it and fills in $1 jobs that are ready. */
  fill: readonly string[];
  /** $1 = how many at most; gives id and token of each job. */
  claim: string;
  /** $1 = ids, $2 = tokens. */
  complete: string;
};

export const SETUP = `
  create schema bench;
  create table bench.job (
    id uuid primary key,
    kind text not null,
    payload jsonb not null,
    priority integer not null,
    status text not null default 'queued',
    run_at timestamptz not null,
    created_at timestamptz not null,
    attempts integer not null default 0,
    token uuid,
    leased_until timestamptz
  );
  create index on bench.job (kind, priority desc, created_at, id) where status = 'queued'`;

const textbook: Contender = {
  name: 'textbook',
  fill: [
    'truncate bench.job',
    `insert into bench.job (id, kind, payload, priority, run_at, created_at)
     select gen_random_uuid(), 'bench', '{"ref": 1}', n % 3, now(), now() + n * interval '1 microsecond'
       from generate_series(1, $1::integer) n`,
    'vacuum analyze bench.job',
  ],
  claim: `
    update bench.job j
       set status = 'leased', attempts = j.attempts + 1, token = gen_random_uuid(),
           leased_until = clock_timestamp() + interval '600 seconds'
     where j.id = any (array(
             select q.id
               from bench.job q
              where q.kind = 'bench' and q.status = 'queued' and q.run_at <= clock_timestamp()
              order by q.priority desc, q.created_at, q.id
              limit (select $1::integer)
                for update skip locked))
    returning j.id, j.token`,
  complete: `
    update bench.job j
       set status = 'done', token = null, leased_until = null
      from unnest($1::uuid[], $2::uuid[]) h(id, token)
     where j.id = h.id and j.token = h.token and j.status = 'leased'`,
};

const dieu45: Contender = {
  name: 'dieu45',
  fill: [
    'truncate public.job_queue, public.dot_iu_runtime_lease, public.dot_iu_command_run',
    `insert into public.job_queue
       (job_kind, event_domain, executor, idempotency_key, payload, priority, status, claimable,
        process_after, enqueued_at)
     select 'bench', 'bench', 'dot_iu', 'job_' || n, '{"ref": 1}', n % 3, 'queued', true, now(),
            now() + n * interval '1 microsecond'
       from generate_series(1, $1::integer) n`,
    'vacuum analyze public.job_queue, public.dot_iu_runtime_lease, public.dot_iu_command_run',
  ],
  claim: `
    select c.job_id as id, c.lease_token as token
      from public.fn_job_claim_batch(array['bench'], null, 'bench', null, $1::integer) c`,
  complete: `
    select public.fn_job_succeed(h.id, h.token) from unnest($1::uuid[], $2::uuid[]) h(id, token)`,
};

export const contenders: readonly Contender[] = [textbook, dieu45];
