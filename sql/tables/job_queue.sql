-- The queue (DP2 as DP3 extends it). Each invariant is a named constraint, so that neither code nor
-- a hand-written UPDATE breaks it (§6.7, §7, §8.3).
create table public.job_queue (
  job_id uuid not null default gen_random_uuid(),
  job_kind text not null,
  event_domain text not null,
  executor text not null,
  idempotency_key text not null,
  payload jsonb not null,
  priority integer not null default 0,
  status text not null default 'queued',
  -- False while process_after is ahead: no index predicate can know the time, this column can.
  claimable boolean not null default false,
  process_after timestamptz not null default clock_timestamp(),
  enqueued_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  lease_name text,
  lease_holder text,
  lease_token uuid,
  leased_at timestamptz,
  leased_until timestamptz,
  -- The token whose lease ended last, the function that ended it and what it answered: an answer
  -- that was lost on the way can be asked for again. Cleared only by a replay.
  ended_token uuid,
  ended_by text,
  first_failed_at timestamptz,
  last_error text,
  last_error_at timestamptz,
  finished_at timestamptz,
  ended_outcome jsonb,

  constraint job_queue_pkey primary key (job_id),
  constraint job_queue_status_check check (status in
    ('queued', 'leased', 'in_progress', 'retry_waiting', 'succeeded', 'dead_letter', 'cleaned')),
  constraint job_queue_claimable_check check (not claimable or status = 'queued'),
  -- All five lease columns are set exactly while the job is held.
  constraint job_queue_lease_check check (
    num_nonnulls(lease_name, lease_holder, lease_token, leased_at, leased_until)
      = case when status in ('leased', 'in_progress') then 5 else 0 end),
  constraint job_queue_lease_order_check check (leased_until is null or leased_until > leased_at),
  constraint job_queue_ended_check
    check (num_nonnulls(ended_token, ended_by, ended_outcome) in (0, 3)),
  constraint job_queue_finished_check check (
    (finished_at is not null) = (status in ('succeeded', 'dead_letter', 'cleaned'))),
  constraint job_queue_attempts_check check (attempts >= 0),
  constraint job_queue_held_attempts_check
    check (attempts >= 1 or status not in ('leased', 'in_progress')),
  constraint job_queue_finite_check check (
    -- What is NULL passes. Every write reads these texts anew, so they are short.
    isfinite(process_after) and isfinite(enqueued_at) and isfinite(leased_at)
    and isfinite(leased_until) and isfinite(first_failed_at) and isfinite(last_error_at)
    and isfinite(finished_at)),
  constraint job_queue_kind_check check (
    job_kind ~ '^[a-z][a-z0-9_]*$' and char_length(job_kind) <= 63
    and job_kind not in ('default', 'lease_reaper')),
  constraint job_queue_names_check check (
    -- Of each: 1 to 200 characters, no control character.
    '' not in (event_domain, executor, idempotency_key, coalesce(lease_name, '-'),
               coalesce(lease_holder, '-'))
    and greatest(char_length(event_domain), char_length(executor), char_length(idempotency_key),
                 char_length(lease_name), char_length(lease_holder)) <= 200
    and (event_domain || executor || idempotency_key || coalesce(lease_name, '-')
         || coalesce(lease_holder, '-')) !~ '[\u0001-\u001f\u007f-\u009f]'),
  -- A signal, not data: small, an object, and no vector in it.
  constraint job_queue_payload_object_check check (jsonb_typeof(payload) = 'object'),
  constraint job_queue_payload_size_check check (octet_length(payload::text) <= 8192),
  constraint job_queue_payload_vector_check check (not jsonb_path_exists(payload,
    'strict $.** ? (@.type() == "array" && @.size() > 64
                    && !exists(@[*] ? (@.type() != "number")))'))
)
with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);

comment on table public.job_queue is
  'Jobs and their leases (Điều 45 §5.2, §6.7, §7, §8). Written only by fn_job_*';

-- One active job per key (§7, first layer).
create unique index job_queue_active_key_idx on public.job_queue (idempotency_key)
  where status in ('queued', 'leased', 'in_progress', 'retry_waiting');

-- The claim, in its order; waiting rows are not in it, however many there are (§5.2, DP3 §5).
create index job_queue_claim_idx on public.job_queue (job_kind, priority desc, enqueued_at, job_id)
  where status = 'queued' and claimable;

-- What becomes due (§8.1).
create index job_queue_due_idx on public.job_queue (job_kind, process_after)
  where not claimable and status in ('queued', 'retry_waiting');

-- What the reaper looks for (§8.3, DP3 §5).
create index job_queue_lease_idx on public.job_queue (leased_until)
  where status in ('leased', 'in_progress');

-- A repeated enqueue finds the job that has just finished.
create index job_queue_finished_key_idx on public.job_queue (idempotency_key, finished_at desc)
  where finished_at is not null;

-- What a later release cleans.
create index job_queue_succeeded_idx on public.job_queue (finished_at) where status = 'succeeded';

-- The gap view looks for dead jobs without a dead letter.
create index job_queue_dead_idx on public.job_queue (job_id) where status = 'dead_letter';
