\echo Use "create extension dieu45" to load this file. \quit
-- Built from sql/ by scripts/generate; edit the sources, not this file.

-- preamble.sql
-- Ground to stand on: a known search path for the rest of the transaction, and a server that is new
-- enough.
set local search_path = pg_catalog, pg_temp;
set local client_min_messages = warning;
set local standard_conforming_strings = on;
set local check_function_bodies = on;

do $$
begin
  if current_setting('server_version_num')::integer < 130000 then
    raise exception using
      errcode = 'D4501',
      message = format('PostgreSQL %s is too old: 13 or newer is needed',
                       current_setting('server_version'));
  end if;
  if has_schema_privilege('public', 'public', 'create') then
    raise warning using
      message = 'PUBLIC may create objects in schema public',
      hint = 'revoke create on schema public from public;';
  end if;
end
$$;

-- extension/refuse_host_tables.sql
-- The extension form is for databases without a host: its host tables are members, created here.
-- Where one is there already, a dump would restore the wrong one first and lose rows.
do $$
declare
  v_tables text;
begin
  select string_agg(c.relname, ', ' order by c.relname)
    into v_tables
    from pg_catalog.pg_class c
   where c.relnamespace = 'public'::regnamespace
     and c.relname in ('dot_config', 'dot_iu_runtime_lease', 'iu_route_dead_letter',
                       'event_pending', 'dot_iu_command_run');
  if v_tables is not null then
    raise exception using
      errcode = 'D4501',
      message = 'this database has host tables of its own: ' || v_tables,
      hint = 'Use sql/install.sql, which keeps them.';
  end if;
end
$$;

-- roles.sql
-- Roles (§11.5): five NOLOGIN roles, cluster-wide. Created only when absent, never altered. The
-- block catches 42710 and 23505 because another database of the cluster may be creating the same
-- role at this moment; an advisory lock would not help, since it is per database. A role that this
-- script created carries a comment, by which uninstall.sql knows it again.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['dot_queue_owner', 'dot_executor', 'dot_producer', 'workflow_admin',
                                'dot_auditor'] loop
    if not exists (select 1 from pg_catalog.pg_roles r where r.rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
        execute format('comment on role %I is %L', v_role, 'created by dieu45');
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
  end loop;
  -- Without superuser, objects can be handed to the owner only by a member of it.
  if not pg_catalog.pg_has_role(current_user, 'dot_queue_owner', 'usage') then
    execute format('grant dot_queue_owner to %I', current_user);
  end if;
end
$$;

-- schema.sql
-- Helpers live in a schema of their own that only the owner may use (§11.5). Everything a caller
-- may touch is in public.
create schema dot_queue;
comment on schema dot_queue is
  'Private helpers of the job queue (Điều 45); nothing here is an interface';

-- host/dot_config.sql
-- Host table: configuration as key and value. Created only when absent.
do $$
begin
  if to_regclass('public.dot_config') is null then
    create table public.dot_config (
      key text not null,
      value text not null,
      description text,
      updated_at timestamptz not null default clock_timestamp(),
      updated_by text not null default session_user,
      constraint dot_config_pkey primary key (key)
    );
    comment on table public.dot_config is
      'Host table of the job queue; created by dieu45';
  end if;
end
$$;

-- host/dot_iu_runtime_lease.sql
-- Host table: leases of the whole runtime, for visibility across processes (DP3 §2, §3.1). The
-- queue mirrors each job lease here as job:<job_id>. Created only when absent, and its two
-- functions too.
do $$
begin
  if to_regclass('public.dot_iu_runtime_lease') is null then
    create table public.dot_iu_runtime_lease (
      lease_name text not null,
      lease_holder text not null,
      lease_token uuid not null,
      acquired_at timestamptz not null,
      expires_at timestamptz not null,
      renewed_at timestamptz,
      constraint dot_iu_runtime_lease_pkey primary key (lease_name)
    );
    comment on table public.dot_iu_runtime_lease is
      'Host table of the job queue; created by dieu45';
  end if;
end
$$;

-- The host's acquire and release, in the plainest form, for a database that has no host of its own.
-- Closed to PUBLIC as everything here is (§11.5): they run as who installed them, and could drop or
-- take over the mirror of any job's lease.
do $$
begin
  if not exists (
    select 1
      from pg_catalog.pg_proc p
     where p.pronamespace = 'public'::regnamespace
       and p.proname = 'fn_dot_iu_runtime_lease_acquire'
  ) then
    create function public.fn_dot_iu_runtime_lease_acquire(
      p_lease_name text,
      p_lease_holder text,
      p_ttl_seconds integer
    )
    returns uuid
    language sql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    as $f$
      insert into public.dot_iu_runtime_lease as l
        (lease_name, lease_holder, lease_token, acquired_at, expires_at)
      values (p_lease_name, p_lease_holder, gen_random_uuid(), clock_timestamp(),
              clock_timestamp() + make_interval(secs => p_ttl_seconds))
      on conflict on constraint dot_iu_runtime_lease_pkey do update
        set lease_holder = excluded.lease_holder,
            lease_token = excluded.lease_token,
            acquired_at = excluded.acquired_at,
            expires_at = excluded.expires_at,
            renewed_at = null
        where l.expires_at <= clock_timestamp()
      returning l.lease_token
    $f$;
    revoke all on function public.fn_dot_iu_runtime_lease_acquire(text, text, integer) from public;
  end if;
  if not exists (
    select 1
      from pg_catalog.pg_proc p
     where p.pronamespace = 'public'::regnamespace
       and p.proname = 'fn_dot_iu_runtime_lease_release'
  ) then
    create function public.fn_dot_iu_runtime_lease_release(p_lease_name text, p_lease_token uuid)
    returns boolean
    language sql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    as $f$
      with gone as (
        delete from public.dot_iu_runtime_lease l
         where l.lease_name = p_lease_name
           and l.lease_token = p_lease_token
        returning 1
      )
      select exists (select 1 from gone)
    $f$;
    revoke all on function public.fn_dot_iu_runtime_lease_release(text, uuid) from public;
  end if;
end
$$;

-- host/iu_route_dead_letter.sql
-- Host table: dead letters of the event tier (DP3 §2). Created only when absent.
do $$
begin
  if to_regclass('public.iu_route_dead_letter') is null then
    create table public.iu_route_dead_letter (
      event_ref text not null,
      event_domain text not null,
      event_type text not null,
      route_code text not null,
      failure_code text not null,
      failure_detail text,
      attempts integer not null,
      first_failed_at timestamptz not null,
      last_failed_at timestamptz not null,
      resolved_at timestamptz,
      resolution text,
      resolution_note text,
      constraint iu_route_dead_letter_attempts_check check (attempts >= 1),
      constraint iu_route_dead_letter_resolution_check
        check (resolution in ('replayed', 'discarded', 'superseded')),
      constraint iu_route_dead_letter_resolved_check
        check ((resolved_at is null) = (resolution is null))
    );
    comment on table public.iu_route_dead_letter is
      'Host table of the job queue; created by dieu45';
  end if;
end
$$;

-- host/event_pending.sql
-- Host table: events that wait for their route. The queue emits references only. Created only when
-- absent.
do $$
begin
  if to_regclass('public.event_pending') is null then
    create table public.event_pending (
      event_id uuid not null default gen_random_uuid(),
      event_domain text not null,
      event_type text not null,
      severity text not null,
      payload jsonb not null,
      occurred_at timestamptz not null default clock_timestamp(),
      error_count integer not null default 0,
      last_error text,
      constraint event_pending_pkey primary key (event_id)
    );
    comment on table public.event_pending is
      'Host table of the job queue; created by dieu45';
  end if;
end
$$;

-- host/dot_iu_command_run.sql
-- Host table: the audit trail of commands (Điều 35). run_seq orders: two steps of one call share a
-- time. Created only when absent; the two indexes also on a host's own table, because the gap view
-- and the audit of one job must not scan it.
do $$
begin
  if to_regclass('public.dot_iu_command_run') is null then
    create table public.dot_iu_command_run (
      run_seq bigint generated always as identity,
      command text not null,
      actor text not null,
      session_role text not null,
      job_id uuid,
      dead_letter_id uuid,
      status_from text,
      status_to text,
      attempt integer,
      refused boolean not null default false,
      reason text,
      detail jsonb,
      run_at timestamptz not null default clock_timestamp(),
      constraint dot_iu_command_run_pkey primary key (run_seq)
    );
    comment on table public.dot_iu_command_run is
      'Host table of the job queue; created by dieu45';
  end if;
end
$$;

create index if not exists dot_iu_command_run_job_idx
  on public.dot_iu_command_run (job_id, run_seq)
  where job_id is not null;

create index if not exists dot_iu_command_run_event_lost_idx
  on public.dot_iu_command_run (run_at)
  where detail ? 'event_lost';

-- host/map.sql
-- The only place that names host columns: everything else of the queue goes through these views, so
-- that a host with other names remaps here. All are simple views, so PostgreSQL writes through
-- them.
create view dot_queue.host_config as
  select c.key, c.value, c.description, c.updated_at, c.updated_by
    from public.dot_config c;

create view dot_queue.host_lease as
  select l.lease_name, l.lease_holder, l.lease_token, l.acquired_at, l.expires_at, l.renewed_at
    from public.dot_iu_runtime_lease l;

create view dot_queue.host_event as
  select e.event_id, e.event_domain, e.event_type, e.severity, e.payload, e.occurred_at
    from public.event_pending e;

create view dot_queue.host_run as
  select r.run_seq, r.command, r.actor, r.session_role, r.job_id, r.dead_letter_id, r.status_from,
         r.status_to, r.attempt, r.refused, r.reason, r.detail, r.run_at
    from public.dot_iu_command_run r;

create view dot_queue.host_event_dead_letter as
  select d.event_ref::text as event_ref, d.event_domain, d.event_type, d.route_code, d.failure_code,
         d.attempts, d.first_failed_at, d.last_failed_at, d.resolved_at, d.resolution
    from public.iu_route_dead_letter d;

-- tables/config_catalogue.sql
-- Every configuration key of the queue, with type, bounds and default (§8.1–§8.3, DP3 §3.2, §7).
-- The one place: reading, checking, seeding and reporting all go by this table. It holds no state
-- of a deployment and is never dumped as part of the extension; a release rewrites it.
create table dot_queue.config_catalogue (
  key text not null,
  value_type text not null,
  min_value bigint,
  max_value bigint,
  choices text[],
  default_value text not null,
  -- True when <family>.<job_kind> may override <family>.default.
  per_kind boolean not null default false,
  description text not null,
  constraint config_catalogue_pkey primary key (key),
  constraint config_catalogue_type_check check (value_type in ('boolean', 'integer', 'choice')),
  constraint config_catalogue_bounds_check
    check ((value_type = 'integer') = (min_value is not null and max_value is not null)),
  constraint config_catalogue_choices_check check ((value_type = 'choice') = (choices is not null))
);

insert into dot_queue.config_catalogue
  (key, value_type, min_value, max_value, choices, default_value, per_kind, description)
values
  ('queue.job_substrate.enabled', 'boolean', null, null, null, 'true', false,
   'Off makes enqueue, claim, lease calls, reaper and promoter inert'),
  ('queue.retry.max_attempts.default', 'integer', 1, 10000, null, '5', true,
   'Claims a job may have before it is dead; 1 disables retry'),
  ('queue.retry.backoff.strategy', 'choice', null, null,
   array['exponential', 'linear', 'constant'], 'exponential', false,
   'How the delay grows with each attempt'),
  ('queue.retry.backoff.base_seconds', 'integer', 1, 31536000, null, '30', false,
   'Delay of the first retry, before jitter'),
  ('queue.retry.backoff.cap_seconds', 'integer', 0, 31536000, null, '3600', false,
   'Longest delay, before jitter; 0 makes every delay the base'),
  ('queue.retry.promoter', 'choice', null, null, array['claim', 'job'], 'claim', false,
   'Who makes due rows claimable: every claim, or fn_job_promote_due alone'),
  ('queue.lease.ttl_seconds.default', 'integer', 1, 604800, null, '600', true,
   'Length of a lease that names none'),
  ('queue.lease.min_ttl_seconds', 'integer', 1, 86400, null, '1', false,
   'Shortest lease a caller may ask for'),
  ('queue.lease.max_ttl_seconds', 'integer', 1, 604800, null, '86400', false,
   'Longest lease a caller may ask for'),
  ('queue.lease.max_hold_seconds', 'integer', 1, 31536000, null, '604800', false,
   'Longest time that renewals may hold one lease'),
  ('queue.lease_reaper.enabled', 'boolean', null, null, null, 'true', false,
   'Off makes the reaper refuse'),
  ('queue.lease_reaper.cadence_seconds', 'integer', 1, 43200, null, '240', false,
   'How often the reaper is called; below half of every lease length'),
  ('queue.lease_reaper.grace_seconds', 'integer', 0, 3600, null, '30', false,
   'Lateness of the reaper that raises no alarm yet'),
  ('queue.enqueue.dedupe_seconds', 'integer', 0, 604800, null, '300', false,
   'A repeated enqueue within this time of finishing finds the finished job; 0 is off'),
  ('queue.enqueue.max_delay_seconds', 'integer', 1, 315360000, null, '31536000', false,
   'How far ahead process_after may lie'),
  ('queue.dlq.replay_enabled', 'boolean', null, null, null, 'false', false,
   'Gate of any function that can requeue a dead letter'),
  ('queue.refusal.acknowledgement_required', 'boolean', null, null, null, 'false', false,
   'A permanent failure must name who acknowledged it'),
  ('queue.gap.ready_seconds', 'integer', 1, 31536000, null, '3600', false,
   'A claimable job older than this is a silent gap'),
  ('queue.gap.retry_due_seconds', 'integer', 1, 31536000, null, '600', false,
   'A due job not yet claimable for this long is a silent gap'),
  ('queue.health.count_cap', 'integer', 1, 100000000, null, '10000', false,
   'Where v_queue_health stops counting'),
  ('queue.health.ready_max', 'integer', 0, 100000000, null, '5000', false,
   'More ready jobs than this is an alarm'),
  ('queue.health.oldest_ready_seconds', 'integer', 1, 31536000, null, '900', false,
   'An older ready job is an alarm'),
  ('queue.health.retries_due_max', 'integer', 0, 100000000, null, '1000', false,
   'More due retries than this is an alarm'),
  ('queue.health.dead_letters_open_max', 'integer', 0, 100000000, null, '100', false,
   'More open dead letters than this is an alarm'),
  ('queue.health.dead_letter_age_seconds', 'integer', 1, 315360000, null, '604800', false,
   'An older open dead letter that triage has not closed is an alarm'),
  ('queue.health.xmin_age_max', 'integer', 1, 2000000000, null, '10000000', false,
   'An older snapshot, in transactions, keeps dead rows from being removed'),
  ('queue.health.dead_tuple_percent_max', 'integer', 1, 100, null, '50', false,
   'A larger share of dead rows in a hot table is an alarm');

-- tables/release.sql
-- Which release is installed, and since when: a reaper that has never run is measured from here.
-- Filled by fn_job_seed, so that a dump and restore of the extension keeps the row it had.
create table dot_queue.release (
  release text not null,
  installed_at timestamptz not null default clock_timestamp(),
  constraint release_pkey primary key (release)
);

-- tables/job_queue.sql
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

-- tables/job_dead_letter.sql
-- Dead letters of jobs (§8.4, DP3 §3.5 option B). Its own key, so that a job which is replayed and
-- dies again has two; no foreign key, so that a dead letter outlives everything.
create table public.job_dead_letter (
  dead_letter_id uuid not null default gen_random_uuid(),
  job_id uuid not null,
  job_kind text not null,
  event_domain text not null,
  executor text not null,
  idempotency_key text not null,
  failure_code text not null,
  failure_detail text,
  attempts integer not null,
  -- The job row as it was, without its tokens.
  job_snapshot jsonb not null,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  resolved_at timestamptz,
  resolution text,
  resolution_note text,
  triage_status text not null default 'pending',
  triage_note text,
  triaged_at timestamptz,
  triaged_by text,

  constraint job_dead_letter_pkey primary key (dead_letter_id),
  constraint job_dead_letter_attempts_check check (attempts >= 1),
  constraint job_dead_letter_resolution_check
    check (resolution in ('replayed', 'discarded', 'superseded')),
  constraint job_dead_letter_resolved_check check ((resolved_at is null) = (resolution is null)),
  constraint job_dead_letter_triage_check check (triage_status = any
    (array['pending', 'acknowledged', 'manual_replay', 'escalated', 'closed'])),
  constraint job_dead_letter_triaged_check check ((triaged_at is null) = (triaged_by is null)),
  constraint job_dead_letter_failure_check check (char_length(failure_code) between 1 and 100),
  constraint job_dead_letter_snapshot_check check (
    jsonb_typeof(job_snapshot) = 'object'
    and not job_snapshot ?| array['lease_token', 'ended_token']),
  constraint job_dead_letter_finite_check check (
    isfinite(first_failed_at)
    and isfinite(last_failed_at)
    and isfinite(coalesce(resolved_at, last_failed_at))
    and isfinite(coalesce(triaged_at, last_failed_at)))
);

comment on table public.job_dead_letter is 'Dead letters of jobs, with their triage (Điều 45 §8.4)';

-- One open dead letter a job.
create unique index job_dead_letter_open_idx on public.job_dead_letter (job_id)
  where resolved_at is null;
create index job_dead_letter_job_idx on public.job_dead_letter (job_id);
-- Inspection, by kind and time (DP3 §5).
create index job_dead_letter_inspect_idx on public.job_dead_letter (job_kind, last_failed_at desc);
-- Age of what is open, for health.
create index job_dead_letter_open_age_idx on public.job_dead_letter (first_failed_at)
  where resolved_at is null;

-- tables/job_executor.sql
-- The executor set (§11.5): who may work which kind; '*' is every kind. Looked at when a job is
-- enqueued, not by the claim; the gap view names a job whose executor was taken away later.
create table public.job_executor (
  executor text not null,
  job_kind text not null,
  enabled boolean not null default true,
  updated_at timestamptz not null default clock_timestamp(),
  updated_by text not null default session_user,

  constraint job_executor_pkey primary key (executor, job_kind),
  constraint job_executor_name_check check (
    char_length(executor) between 1 and 200 and executor !~ '[\u0001-\u001f\u007f-\u009f]'),
  constraint job_executor_kind_check check (job_kind = '*' or (
    job_kind ~ '^[a-z][a-z0-9_]*$' and char_length(job_kind) <= 63
    and job_kind not in ('default', 'lease_reaper')))
);

comment on table public.job_executor is
  'Registered executors and the kinds they may work (Điều 45 §11.5)';

-- tables/job_sweep.sql
-- One row a call of the reaper or the promoter, append-only (§8.3, §15.5): a reaper that no longer
-- runs must be seen. A row of its own for each call, because two reapers must not wait for each
-- other here.
create table public.job_sweep (
  sweep_id bigint generated always as identity,
  command text not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  counts jsonb not null,

  constraint job_sweep_pkey primary key (sweep_id),
  constraint job_sweep_command_check
    check (command in ('fn_job_lease_reaper', 'fn_job_promote_due')),
  constraint job_sweep_order_check check (finished_at >= started_at)
);

comment on table public.job_sweep is 'Calls of the reaper and the promoter (Điều 45 §15.5)';

create index job_sweep_last_idx on public.job_sweep (command, started_at desc);

-- helpers/config_value_problem.sql
-- What is wrong with one configured value by the catalogue's word, or NULL. The only judge of a
-- value: reading, writing and reporting all ask it.
create function dot_queue.config_value_problem(
  p_value_type text,
  p_min_value bigint,
  p_max_value bigint,
  p_choices text[],
  p_value text
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value is null then
    return 'no value';
  end if;
  if p_value_type = 'boolean' and p_value not in ('true', 'false') then
    return 'must be true or false';
  end if;
  if p_value_type = 'choice' and p_value <> all (p_choices) then
    return 'must be one of ' || array_to_string(p_choices, ', ');
  end if;
  if p_value_type = 'integer' and p_value !~ '^[0-9]{1,10}$' then
    return 'must be a whole number';
  end if;
  if p_value_type = 'integer' and p_value::bigint not between p_min_value and p_max_value then
    return format('must be from %s to %s', p_min_value, p_max_value);
  end if;
  return null;
end
$$;

-- views/config_value.sql
-- Every configured value of the queue's families beside what the catalogue says of it: the type,
-- the default, and what is wrong with the value, if anything. Judges one value by itself; rules
-- between values are in config_problem. Its reader needs EXECUTE on config_value_problem (a view
-- checks functions as who reads it), and that helper alone is granted.
create view dot_queue.config_value as
  select c.key,
         c.value,
         k.key as catalogue_key,
         k.default_value,
         c.updated_at,
         case
           when k.key is null then 'unknown key'
           else dot_queue.config_value_problem(k.value_type, k.min_value, k.max_value, k.choices,
                                               c.value)
         end as problem
    from dot_queue.host_config c
    left join dot_queue.config_catalogue k on k.key = c.key
      or (k.per_kind
          and k.key = regexp_replace(c.key, '\.[a-z][a-z0-9_]{0,62}$', '.default')
          and c.key !~ '\.(default|lease_reaper)$')
   where c.key ~
           '^queue\.(job_substrate|retry|lease|lease_reaper|enqueue|dlq|refusal|gap|health)\.';

-- views/config_in_force.sql
-- The value in force of every key of the catalogue, for views: a good configured value, or the
-- default.
create view dot_queue.config_in_force as
  select k.key, coalesce(v.value, k.default_value) as value
    from dot_queue.config_catalogue k
    left join dot_queue.config_value v on v.key = k.key
     and v.problem is null;

-- views/config_problem.sql
-- Everything that is wrong with the configuration: missing keys, values that the catalogue refuses,
-- and values that do not fit each other (DP3 §10: the reaper's cadence is below half of every
-- lease).
create view dot_queue.config_problem as
  with integers as (
    select v.key, v.catalogue_key, v.value::bigint as number
      from dot_queue.config_value v
      join dot_queue.config_catalogue k on k.key = v.catalogue_key
       and k.value_type = 'integer'
     where v.problem is null
  ),
  bound as (
    select k.key, coalesce(i.number, k.default_value::bigint) as number
      from dot_queue.config_catalogue k
      left join integers i on i.key = k.key
     where k.key in ('queue.lease_reaper.cadence_seconds', 'queue.lease.min_ttl_seconds',
                     'queue.lease.max_ttl_seconds', 'queue.lease.max_hold_seconds',
                     'queue.lease.ttl_seconds.default')
  ),
  ttl as (
    select i.key, i.number
      from integers i
     where i.catalogue_key = 'queue.lease.ttl_seconds.default'
    union
    select b.key, b.number
      from bound b
     where b.key = 'queue.lease.ttl_seconds.default'
  ),
  rule(key, problem) as (
    select b.key,
           format('must be below half of every lease length; %s is %s', t.key, t.number)
      from bound b
      join ttl t on b.number * 2 >= t.number
     where b.key = 'queue.lease_reaper.cadence_seconds'
    union all
    select t.key, format('must be above twice the reaper cadence of %s seconds', b.number)
      from ttl t
      join bound b on b.key = 'queue.lease_reaper.cadence_seconds'
       and b.number * 2 >= t.number
    union all
    select x.key, format('must not be above %s, which is %s', b.key, b.number)
      from (select t.key, t.number from ttl t
            union all
            select c.key, c.number from bound c where c.key = 'queue.lease.min_ttl_seconds') x
      join bound b on b.key = 'queue.lease.max_ttl_seconds'
       and x.number > b.number
    union all
    select t.key, format('must not be below %s, which is %s', b.key, b.number)
      from ttl t
      join bound b on b.key = 'queue.lease.min_ttl_seconds'
       and t.number < b.number
    union all
    select b.key, format('must not be below %s, which is %s', t.key, t.number)
      from bound b
      join ttl t on t.number > b.number
     where b.key = 'queue.lease.max_ttl_seconds'
    union all
    select b.key, format('must not be above %s, which is %s', t.key, t.number)
      from bound b
      join ttl t on t.number < b.number
     where b.key = 'queue.lease.min_ttl_seconds'
    union all
    select x.key,
           format('queue.lease.max_hold_seconds (%s) must not be below '
                  'queue.lease.max_ttl_seconds (%s)', h.number, m.number)
      from bound h
      join bound m on m.key = 'queue.lease.max_ttl_seconds'
       and h.number < m.number
      join bound x on x.key in ('queue.lease.max_hold_seconds', 'queue.lease.max_ttl_seconds')
     where h.key = 'queue.lease.max_hold_seconds'
  )
  select k.key, 'missing' as kind, 'missing: the default applies' as problem
    from dot_queue.config_catalogue k
   where not exists (
           select 1
             from dot_queue.host_config c
            where c.key = k.key
         )
  union all
  select v.key, 'invalid', v.problem
    from dot_queue.config_value v
   where v.problem is not null
  union all
  select r.key, 'invalid', string_agg(r.problem, '; ' order by r.problem)
    from rule r
   group by r.key;

-- helpers/refusal.sql
-- A refusal is a value (§8.5): refused, a code, and what explains it.
create function dot_queue.refusal(p_reason text, p_more jsonb default '{}')
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('refused', true, 'reason', p_reason) || p_more;
end
$$;

-- The refusal of one argument: which, and what is wrong with it.
create function dot_queue.invalid_argument(p_argument text, p_problem text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('refused', true, 'reason', 'invalid_argument', 'argument', p_argument,
                            'problem', p_problem);
end
$$;

-- Row-returning functions cannot answer with a refusal, so they raise it: SQLSTATE D4500, the same
-- object as JSON in DETAIL.
create function dot_queue.raise_refusal(p_refusal jsonb)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'D4500',
    message = 'refused: ' || (p_refusal ->> 'reason'),
    detail = p_refusal::text;
end
$$;

-- helpers/text.sql
-- What is wrong with a naming text (domain, executor, key, lease name, holder, actor), or NULL. No
-- function holds a backslash in a plain literal: a session may read those as escapes
-- (standard_conforming_strings = off), and would then find every name empty.
create function dot_queue.name_problem(p_value text, p_max_chars integer default 200)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_value is null then 'required'
    when p_value !~ '[^[:space:]]' then 'empty'
    when char_length(p_value) > p_max_chars then format('longer than %s characters', p_max_chars)
    when p_value ~ E'[\\u0001-\\u001f\\u007f-\\u009f]' then 'holds a control character'
  end;
end
$$;

-- What is wrong with a job kind, or NULL. The kind of the probe is taken only from an
-- administrator, by session_user: current_user inside a definer function is always the owner.
create function dot_queue.kind_problem(p_kind text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_kind is null then 'required'
    -- Its length apart: a bounded repeat costs a regular expression sixty times the states.
    when p_kind !~ '^[a-z][a-z0-9_]*$' or char_length(p_kind) > 63
      then 'must match ^[a-z][a-z0-9_]{0,62}$'
    when p_kind in ('default', 'lease_reaper') then 'reserved'
    when p_kind = 'dieu45_probe' and not pg_has_role(session_user, 'workflow_admin', 'member')
      then 'reserved for workflow_admin'
  end;
end
$$;

-- Error texts may hold anything: control characters become spaces, the rest is cut. Cut first: a
-- text of megabytes must not be cleaned to its end.
create function dot_queue.clean_text(p_value text, p_max_chars integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_replace(left(p_value, p_max_chars),
                        E'[\\u0001-\\u0008\\u000b-\\u001f\\u007f-\\u009f]', ' ', 'g');
end
$$;

-- The refusal of an actor, or NULL. NULL stands for the default; '' and blanks are a refusal of
-- their own (DLQ governance, proof step 11).
create function dot_queue.actor_refusal(p_actor text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_actor is null then null
    when p_actor !~ '[^[:space:]]' then dot_queue.refusal('actor_required')
    when dot_queue.name_problem(p_actor) is not null
      then dot_queue.invalid_argument('p_actor', dot_queue.name_problem(p_actor))
  end;
end
$$;

-- helpers/config.sql
-- The value of a key that is in force: the kind's own when there is a good one, then the key's,
-- then the catalogue's default. Never fails, so that the failure path never does; what is wrong is
-- shown by the gap view. For a per-kind family p_key is the one that ends in .default.
create function dot_queue.config(p_key text, p_job_kind text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value text;
begin
  select c.value
    into v_value
    from dot_queue.config_catalogue k
    join dot_queue.host_config c on c.key = any (array[p_key, left(p_key, -7) || p_job_kind])
   where k.key = p_key
     and (c.value = k.default_value
          or dot_queue.config_value_problem(k.value_type, k.min_value, k.max_value, k.choices,
                                            c.value) is null)
   order by c.key = p_key
   limit 1;
  if not found then
    select k.default_value
      into strict v_value
      from dot_queue.config_catalogue k
     where k.key = p_key;
  end if;
  return v_value;
end
$$;

-- The refusal of the first of these keys whose configured value is bad, or NULL: enqueue and claim
-- refuse it. For a per-kind family the own keys of p_kinds are looked at too.
create function dot_queue.config_refusal(p_keys text[], p_kinds text[] default '{}')
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
begin
  select w.key
    into v_key
    from (
           select a.key as catalogue_key, a.key, a.place
             from unnest(p_keys) with ordinality a(key, place)
           union all
           select a.key, left(a.key, -7) || n.kind, a.place
             from unnest(p_keys) with ordinality a(key, place)
            cross join unnest(p_kinds) n(kind)
            where a.key like '%.default'
         ) w
    join dot_queue.host_config c on c.key = w.key
    join dot_queue.config_catalogue k on k.key = w.catalogue_key
   where c.value is distinct from k.default_value
     and dot_queue.config_value_problem(k.value_type, k.min_value, k.max_value, k.choices, c.value)
           is not null
   order by w.place, w.key
   limit 1;
  if found then
    return dot_queue.refusal('config_invalid', jsonb_build_object('key', v_key));
  end if;
  return null;
end
$$;

-- How many claims a job of this kind may have (§8.1).
create function dot_queue.max_attempts(p_job_kind text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return dot_queue.config('queue.retry.max_attempts.default', p_job_kind)::integer;
end
$$;

-- What is wrong with a lease length that a caller asks for, or NULL (§8.3).
create function dot_queue.ttl_problem(p_ttl_seconds integer)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_min integer;
  v_max integer;
begin
  if p_ttl_seconds is null then
    return null;
  end if;
  v_min := dot_queue.config('queue.lease.min_ttl_seconds')::integer;
  v_max := dot_queue.config('queue.lease.max_ttl_seconds')::integer;
  if p_ttl_seconds not between v_min and v_max then
    return format('must be from %s to %s', v_min, v_max);
  end if;
  return null;
end
$$;

-- Refuses a bad value at write (§15.5: a typo must never fail open). An AFTER trigger, so that
-- rules between values see the whole statement.
create function dot_queue.config_guard()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text;
begin
  -- Two writers who each keep a rule could break it together.
  perform pg_advisory_xact_lock(hashtext('dieu45.config'));
  select p.problem
    into v_problem
    from dot_queue.config_problem p
   where p.key = new.key
     and p.kind = 'invalid'
   limit 1;
  if found then
    perform dot_queue.raise_refusal(dot_queue.invalid_argument('p_value', v_problem)
      || jsonb_build_object('key', new.key));
  end if;
  return null;
end
$$;

-- The catalogue's key for a configuration key: itself, or the family's .default for a kind's own
-- key; NULL when the catalogue knows neither.
create function dot_queue.config_catalogue_key(p_key text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select k.key
      from dot_queue.config_catalogue k
     where k.key = p_key
        or (k.per_kind
            and k.key = regexp_replace(p_key, '[.][a-z][a-z0-9_]{0,62}$', '.default')
            and p_key !~ '[.]lease_reaper$')
  );
end
$$;

-- helpers/gate.sql
-- What every mutating call asks first (§5): is the substrate on, and is this READ COMMITTED? Under
-- REPEATABLE READ a lock on a row that has changed raises 40001, which is no coded answer.
create function dot_queue.gate(p_command text)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Triage and configuration work while the substrate is off (DLQ governance: gated by nothing).
  if p_command not in ('fn_job_dead_letter_triage_update', 'fn_job_config_set',
                       'fn_job_executor_set', 'fn_job_seed')
     and dot_queue.config('queue.job_substrate.enabled') = 'false' then
    return dot_queue.refusal('substrate_disabled');
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    return dot_queue.refusal('isolation_level',
      jsonb_build_object('got', current_setting('transaction_isolation')));
  end if;
  return null;
end
$$;

-- helpers/audit.sql
-- One row of the audit trail (Điều 35). Its failure undoes the transition it would have recorded.
create function dot_queue.audit(
  p_command text,
  p_actor text,
  p_job_id uuid,
  p_status_from text,
  p_status_to text,
  p_attempt integer,
  p_detail jsonb default null,
  p_dead_letter_id uuid default null
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, dead_letter_id, status_from, status_to, attempt, refused,
     detail, run_at)
  values (p_command, coalesce(p_actor, session_user), session_user, p_job_id, p_dead_letter_id,
          p_status_from, p_status_to, p_attempt, false, p_detail, clock_timestamp());
end
$$;

-- Records a refusal (Điều 31) and hands it back, so that a caller can return it in one line. The
-- actor may be the very argument that was refused, so it is cleaned here.
create function dot_queue.refuse(
  p_command text,
  p_actor text,
  p_job_id uuid,
  p_refusal jsonb,
  p_dead_letter_id uuid default null
)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, dead_letter_id, refused, reason, detail, run_at)
  values (p_command,
          coalesce(nullif(btrim(dot_queue.clean_text(p_actor, 200)), ''), session_user),
          session_user, p_job_id, p_dead_letter_id, true, p_refusal ->> 'reason',
          p_refusal - 'refused' - 'reason', clock_timestamp());
  return p_refusal;
end
$$;

-- helpers/emit.sql
-- Emits one warning event for each payload and returns the jobs whose event was lost. References
-- only. A failing insert must not undo the transition: it is caught here, and the caller writes
-- event_lost into the audit row, where the gap view finds it (§15.5).
create function dot_queue.emit(p_event_type text, p_payloads jsonb[])
returns uuid[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_payload jsonb;
  v_lost uuid[] := array[]::uuid[];
begin
  begin
    insert into dot_queue.host_event (event_domain, event_type, severity, payload, occurred_at)
    select 'system', p_event_type, 'warning', p.payload, clock_timestamp()
      from unnest(p_payloads) p(payload);
    return v_lost;
  exception when others then
    null;
  end;
  -- One of them cannot be stored: find out which, and keep the others.
  foreach v_payload in array p_payloads loop
    begin
      insert into dot_queue.host_event (event_domain, event_type, severity, payload, occurred_at)
      values ('system', p_event_type, 'warning', v_payload, clock_timestamp());
    exception when others then
      v_lost := v_lost || (v_payload ->> 'job_id')::uuid;
    end;
  end loop;
  return v_lost;
end
$$;

-- helpers/backoff.sql
-- The delay before the next attempt, in seconds (§8.2, DP3 §3.2): the named strategy, capped, then
-- jittered, so the bound is [0.8, 1.2] × least(cap, raw). The exponent is clamped before the power:
-- no attempt count, base or cap can make a failure call raise. Cap 0 means constant.
create function dot_queue.backoff_seconds(
  p_attempts integer,
  p_strategy text,
  p_base_seconds integer,
  p_cap_seconds integer,
  p_jitter double precision
)
returns double precision
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_jitter * case
    when p_cap_seconds = 0 then p_base_seconds::double precision
    else least(
      p_cap_seconds::double precision,
      p_base_seconds::double precision * case p_strategy
        when 'exponential' then power(2::double precision, least(greatest(p_attempts - 1, 0), 60))
        when 'linear' then greatest(p_attempts, 1)::double precision
        else 1::double precision
      end)
  end;
end
$$;

-- The same with the configuration in force. Volatile: each row of a statement has its own jitter.
create function dot_queue.next_process_after(p_attempts integer, p_now timestamptz)
returns timestamptz
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_now + make_interval(secs => dot_queue.backoff_seconds(
    p_attempts,
    dot_queue.config('queue.retry.backoff.strategy'),
    dot_queue.config('queue.retry.backoff.base_seconds')::integer,
    dot_queue.config('queue.retry.backoff.cap_seconds')::integer,
    0.8 + random() * 0.4));
end
$$;

-- helpers/mirror.sql
-- The mirror of a job lease in the host's lease table (DP3 §3.1): job:<job_id>, written with the
-- lease, moved by renewals, gone when the lease ends. The caller holds the lock of the job row.
create function dot_queue.mirror_put(p_job_ids uuid[])
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A row that is left under this name belongs to a lease that is over.
  insert into dot_queue.host_lease (lease_name, lease_holder, lease_token, acquired_at, expires_at)
  select 'job:' || q.job_id, q.lease_holder, q.lease_token, q.leased_at, q.leased_until
    from public.job_queue q
   where q.job_id = any (p_job_ids)
      on conflict (lease_name) do update
     set lease_holder = excluded.lease_holder,
         lease_token = excluded.lease_token,
         acquired_at = excluded.acquired_at,
         expires_at = excluded.expires_at,
         renewed_at = null;
end
$$;

create function dot_queue.mirror_move(p_job_id uuid, p_leased_until timestamptz, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  update dot_queue.host_lease l
     set expires_at = p_leased_until,
         renewed_at = p_now
   where l.lease_name = 'job:' || p_job_id;
end
$$;

create function dot_queue.mirror_drop(p_job_ids uuid[])
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from dot_queue.host_lease l
   where l.lease_name = any (array(select 'job:' || j.job_id from unnest(p_job_ids) j(job_id)));
end
$$;

-- helpers/error_text.sql
-- The code of a failure: cleaned, cut at 100, `unspecified` when there is none.
create function dot_queue.error_code(p_error_code text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(nullif(btrim(dot_queue.clean_text(p_error_code, 100)), ''), 'unspecified');
end
$$;

-- What the job row keeps of its last failure: code and message, the message cleaned and cut at
-- 4000.
create function dot_queue.error_text(p_error_code text, p_error_message text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return dot_queue.error_code(p_error_code)
    || coalesce(': ' || nullif(dot_queue.clean_text(p_error_message, 4000), ''), '');
end
$$;

-- helpers/lease_call.sql
-- What every call that needs the lease asks, in the order of the refusal contract (§8.5): may it
-- run, are the arguments good, is there such a job; then, with the row locked: was this very ending
-- already applied, is the job over, is it held, by this token, still. An expired lease is over even
-- when the reaper has not come yet: an outcome never depends on when it ran.
--
-- Answers with `answer` set when the call ends here (a refusal, recorded, or the ending that was
-- already applied). Otherwise `answer` is NULL, the row is locked, and job, actor and the time
-- after the lock are what the caller goes on with. The two p_…_refusal are what the caller found
-- wrong with arguments of its own, before and after the actor in their order.
create function dot_queue.lease_call(
  p_command text,
  p_job_id uuid,
  p_lease_token uuid,
  p_actor text,
  p_before_actor_refusal jsonb,
  p_after_actor_refusal jsonb,
  out answer jsonb,
  out job public.job_queue,
  out actor text,
  out at timestamptz
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
  v_reason text;
begin
  v_refusal := coalesce(
    dot_queue.gate(p_command),
    case when p_job_id is null then dot_queue.invalid_argument('p_job_id', 'required') end,
    case when p_lease_token is null then
      dot_queue.invalid_argument('p_lease_token', 'required')
    end,
    p_before_actor_refusal,
    dot_queue.actor_refusal(p_actor),
    p_after_actor_refusal);
  if v_refusal is not null then
    answer := dot_queue.refuse(p_command, p_actor, p_job_id, v_refusal);
    return;
  end if;

  select *
    into job
    from public.job_queue q
   where q.job_id = p_job_id
     for update;
  at := clock_timestamp();
  if not found then
    v_refusal := dot_queue.refusal('job_not_found', jsonb_build_object('job_id', p_job_id));
    answer := dot_queue.refuse(p_command, p_actor, null, v_refusal);
    return;
  end if;

  -- The token is compared before it is believed: only who held the lease learns how it ended.
  if job.ended_token = p_lease_token and job.ended_by = p_command then
    answer := job.ended_outcome || jsonb_build_object('already_applied', true);
    return;
  end if;

  v_reason := case
    when job.status in ('succeeded', 'dead_letter', 'cleaned') then 'already_terminal'
    when job.status in ('queued', 'retry_waiting') then 'not_leased'
    when job.lease_token is distinct from p_lease_token then 'lease_token_mismatch'
    when job.leased_until <= at then 'lease_expired'
  end;
  if v_reason is not null then
    v_refusal := dot_queue.refusal(v_reason,
      jsonb_build_object('job_id', p_job_id, 'status', job.status));
    answer := dot_queue.refuse(p_command, p_actor, p_job_id, v_refusal);
    return;
  end if;
  actor := coalesce(p_actor, job.lease_holder);
end
$$;

-- helpers/dead_letter.sql
-- What attempts becomes when a job dies: a permanent failure spends the whole budget (DP3 §3.4),
-- but the dead letter keeps the true count.
create function dot_queue.attempts_at_death(p_command text, p_attempts integer, p_job_kind text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_command = 'fn_job_fail_permanent'
      then greatest(p_attempts, dot_queue.max_attempts(p_job_kind))
    else p_attempts
  end;
end
$$;

-- Kills held jobs (§8.4, DP3 §3.4), whose rows the caller has locked: the dead letter, copied from
-- the job row on the server and never from an argument; the end of the lease; the event; the audit.
-- p_ended_by is the function whose answer a lost reply can ask for again.
create function dot_queue.dead_letters(
  p_command text,
  p_actor text,
  p_job_ids uuid[],
  p_failure_code text,
  p_failure_detail text,
  p_now timestamptz,
  p_lost_events uuid[] default '{}',
  p_acknowledged_by text default null
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lost uuid[];
begin
  -- A job has one open dead letter. If a hand has left one open under a live job, it is brought up
  -- to date: the death must not fail for it.
  insert into public.job_dead_letter as d
    (job_id, job_kind, event_domain, executor, idempotency_key, failure_code, failure_detail,
     attempts, job_snapshot, first_failed_at, last_failed_at)
  select q.job_id, q.job_kind, q.event_domain, q.executor, q.idempotency_key, p_failure_code,
         dot_queue.clean_text(p_failure_detail, 4000), q.attempts,
         to_jsonb(q) - 'lease_token' - 'ended_token' - 'ended_outcome',
         coalesce(q.first_failed_at, p_now), p_now
    from public.job_queue q
   where q.job_id = any (p_job_ids)
   order by q.job_id
      on conflict (job_id) where resolved_at is null do update
     set failure_code = excluded.failure_code,
         failure_detail = excluded.failure_detail,
         attempts = excluded.attempts,
         job_snapshot = excluded.job_snapshot,
         last_failed_at = excluded.last_failed_at;

  update public.job_queue q
     set status = 'dead_letter',
         attempts = dot_queue.attempts_at_death(p_command, q.attempts, q.job_kind),
         lease_name = null,
         lease_holder = null,
         lease_token = null,
         leased_at = null,
         leased_until = null,
         ended_token = q.lease_token,
         ended_by = p_command,
         ended_outcome = jsonb_build_object(
           'refused', false,
           'job_id', q.job_id,
           'status_from', q.status,
           'status_to', 'dead_letter',
           'attempts', dot_queue.attempts_at_death(p_command, q.attempts, q.job_kind),
           'dead_letter_id', d.dead_letter_id),
         first_failed_at = coalesce(q.first_failed_at, p_now),
         last_error = dot_queue.error_text(p_failure_code, p_failure_detail),
         last_error_at = p_now,
         finished_at = p_now
    from public.job_dead_letter d
   where q.job_id = any (p_job_ids)
     and d.job_id = q.job_id
     and d.resolved_at is null;
  perform dot_queue.mirror_drop(p_job_ids);

  v_lost := p_lost_events || dot_queue.emit('queue_job_dead_lettered', array(
    select jsonb_build_object('job_id', d.job_id, 'dead_letter_id', d.dead_letter_id,
                              'job_kind', d.job_kind)
      from public.job_dead_letter d
     where d.job_id = any (p_job_ids)
       and d.resolved_at is null
  ));
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, dead_letter_id, status_from, status_to, attempt, refused,
     detail, run_at)
  select p_command, coalesce(p_actor, session_user), session_user, d.job_id, d.dead_letter_id,
         d.job_snapshot ->> 'status', 'dead_letter', q.attempts, false,
         jsonb_strip_nulls(jsonb_build_object(
           'failure_code', d.failure_code,
           'attempts_made', d.attempts,
           'acknowledged_by', p_acknowledged_by,
           'event_lost', case when d.job_id = any (v_lost) then true end)),
         clock_timestamp()
    from public.job_dead_letter d
    join public.job_queue q on q.job_id = d.job_id
   where d.job_id = any (p_job_ids)
     and d.resolved_at is null;
end
$$;

-- The same for one job, with the answer of the call.
create function dot_queue.dead_letter(
  p_command text,
  p_actor text,
  p_job_id uuid,
  p_failure_code text,
  p_failure_detail text,
  p_now timestamptz,
  p_acknowledged_by text default null
)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_outcome jsonb;
begin
  perform dot_queue.dead_letters(p_command, p_actor, array[p_job_id], p_failure_code,
                                 p_failure_detail, p_now, '{}', p_acknowledged_by);
  select q.ended_outcome
    into v_outcome
    from public.job_queue q
   where q.job_id = p_job_id;
  return v_outcome;
end
$$;

-- helpers/reap.sql
-- Ends the leases of these jobs, which are locked and expired (§8.3, §8.1, DP3 §3.6). At the
-- maximum the job is dead, or one that kills its worker would run for ever; below it the job waits
-- for its back-off. The outer UPDATE asks again for status and expiry: a list of ids is not a
-- proof. Returns how many died.
create function dot_queue.reap_rows(p_job_ids uuid[], p_now timestamptz)
returns integer
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead uuid[];
  v_lost uuid[];
begin
  v_lost := dot_queue.emit('queue_lease_reaped', array(
    select jsonb_build_object('job_id', q.job_id, 'job_kind', q.job_kind)
      from public.job_queue q
     where q.job_id = any (p_job_ids)
  ));
  v_dead := array(
    select q.job_id
      from public.job_queue q
     where q.job_id = any (p_job_ids)
       and q.attempts >= dot_queue.max_attempts(q.job_kind)
  );
  if cardinality(v_dead) > 0 then
    perform dot_queue.dead_letters('fn_job_lease_reaper', null, v_dead,
                                   'lease_expired_reaped_at_max_attempts', null, p_now, v_lost);
  end if;

  with moved as (
    update public.job_queue q
       set status = 'retry_waiting',
           process_after = dot_queue.next_process_after(q.attempts, p_now),
           lease_name = null,
           lease_holder = null,
           lease_token = null,
           leased_at = null,
           leased_until = null,
           ended_token = q.lease_token,
           ended_by = 'fn_job_lease_reaper',
           ended_outcome = jsonb_build_object('refused', false, 'job_id', q.job_id,
                                              'status_from', q.status, 'status_to', 'retry_waiting',
                                              'attempts', q.attempts),
           first_failed_at = coalesce(q.first_failed_at, p_now),
           last_error = 'lease_expired',
           last_error_at = p_now
     where q.job_id = any (p_job_ids)
       and q.status in ('leased', 'in_progress')
       and q.leased_until <= p_now
    returning q.job_id, q.attempts, q.ended_outcome
  )
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, status_from, status_to, attempt, refused, detail, run_at)
  select 'fn_job_lease_reaper', session_user, session_user, m.job_id,
         m.ended_outcome ->> 'status_from', 'retry_waiting', m.attempts, false,
         jsonb_strip_nulls(jsonb_build_object(
           'error_code', 'lease_expired',
           'event_lost', case when m.job_id = any (v_lost) then true end)),
         clock_timestamp()
    from moved m;
  perform dot_queue.mirror_drop(p_job_ids);
  return cardinality(v_dead);
end
$$;

-- Deletes expired rows of the host's lease table and returns how many (DP3 §3.6), but never the
-- mirror of a lease that is held. The job row is locked before its mirror is, as everywhere: a
-- claim of that job must not find the mirror locked and wait.
create function dot_queue.delete_expired_runtime_leases(p_limit integer, p_now timestamptz)
returns integer
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[];
  v_held text[];
  v_deleted integer;
begin
  v_names := array(
    select l.lease_name
      from dot_queue.host_lease l
     where l.expires_at <= p_now
     order by l.expires_at
     limit (select p_limit)
  );
  -- A job row that another session has locked counts as held: the next sweep will see.
  with jobs as (
    select q.job_id
      from public.job_queue q
     where q.job_id = any (array(
             select substr(n.lease_name, 5)::uuid
               from unnest(v_names) n(lease_name)
              where n.lease_name ~ '^job:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
           ))
  ),
  free as (
    select q.job_id
      from public.job_queue q
     where q.job_id = any (array(select j.job_id from jobs j))
       and q.status not in ('leased', 'in_progress')
       for update skip locked
  )
  select array(
           select 'job:' || j.job_id
             from jobs j
            where not exists (select 1 from free f where f.job_id = j.job_id)
         )
    into v_held;
  delete from dot_queue.host_lease l
   where l.lease_name = any (array(
           select e.lease_name
             from dot_queue.host_lease e
            where e.lease_name = any (v_names)
              and e.lease_name <> all (v_held)
              and e.expires_at <= p_now
              for update skip locked
         ));
  get diagnostics v_deleted = row_count;
  return v_deleted;
end
$$;

-- helpers/flip_due.sql
-- Makes at most p_limit due rows of one kind claimable and says how many (§8.1, §5.2). For a
-- retry_waiting row this is the transition to queued and has its audit row; for a queued row whose
-- time has come it is none. Skips what is locked. A row that cannot be written stops no other
-- (§10.1): it joins `bad`, the rows that are not to be tried.
create function dot_queue.flip_due(
  p_command text,
  p_actor text,
  p_job_kind text,
  p_limit integer,
  p_now timestamptz,
  inout bad uuid[] default '{}',
  out flipped integer
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
  v_id uuid;
begin
  flipped := 0;
  loop
    v_ids := array(
      select q.job_id
        from public.job_queue q
       where q.job_kind = p_job_kind
         and not q.claimable
         and q.status in ('queued', 'retry_waiting')
         and q.process_after <= p_now
         and q.job_id <> all (bad)
       order by q.process_after
       limit (select p_limit - flipped)
         for update skip locked
    );
    exit when cardinality(v_ids) = 0;
    begin
      perform dot_queue.flip_rows(p_command, p_actor, v_ids);
      flipped := flipped + cardinality(v_ids);
    exception when others then
      foreach v_id in array v_ids loop
        begin
          perform dot_queue.flip_rows(p_command, p_actor, array[v_id]);
          flipped := flipped + 1;
        exception when others then
          bad := bad || v_id;
        end;
      end loop;
    end;
    exit when flipped >= p_limit;
  end loop;
end
$$;

-- Flips rows that the caller has locked.
create function dot_queue.flip_rows(p_command text, p_actor text, p_job_ids uuid[])
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, status_from, status_to, attempt, refused, run_at)
  select p_command, coalesce(p_actor, session_user), session_user, q.job_id, 'retry_waiting',
         'queued', q.attempts, false, clock_timestamp()
    from public.job_queue q
   where q.job_id = any (p_job_ids)
     and q.status = 'retry_waiting';
  update public.job_queue q
     set status = 'queued',
         claimable = true
   where q.job_id = any (p_job_ids);
end
$$;

-- The kinds that have a due row, found by hopping from kind to kind along the index: as many probes
-- as there are kinds, however many rows wait.
create function dot_queue.due_kinds(p_now timestamptz)
returns table (job_kind text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_earliest timestamptz;
begin
  job_kind := '';
  loop
    -- The first entry of the next kind is its earliest row. Asked with the time in WHERE, the
    -- planner may expect a due row anywhere in the table, and scan it.
    select q.job_kind, q.process_after
      into job_kind, v_earliest
      from public.job_queue q
     where q.job_kind > due_kinds.job_kind
       and not q.claimable
       and q.status in ('queued', 'retry_waiting')
     order by q.job_kind, q.process_after
     limit 1;
    exit when not found;
    if v_earliest <= p_now then
      return next;
    end if;
  end loop;
end
$$;

-- helpers/claim.sql
-- The claim (§5.2, §8.3, DP3 §3.1), for one job or many: the ids that were granted, in claim order.
-- Never waits for a lock, and locks no row that it does not take, but for the due rows that it
-- flips.
create function dot_queue.claim(
  p_command text,
  p_kinds text[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer,
  p_limit integer
)
returns uuid[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kinds text[];
  v_now timestamptz;
  v_kind text;
  v_ids uuid[];
  v_id uuid;
  v_bad uuid[] := array[]::uuid[];
  v_granted uuid[] := array[]::uuid[];
begin
  v_kinds := array(select distinct k.kind from unnest(p_kinds) k(kind));

  -- Make due rows claimable, once a cheap probe has said that there are any. The clock, not now():
  -- a long transaction's now() stands still. In a variable: a volatile call in WHERE loses the
  -- index.
  if dot_queue.config('queue.retry.promoter') = 'claim' then
    v_now := clock_timestamp();
    for v_kind in
      select k.kind
        from unnest(v_kinds) k(kind)
       where (
               select q.process_after
                 from public.job_queue q
                where q.job_kind = k.kind
                  and not q.claimable
                  and q.status in ('queued', 'retry_waiting')
                order by q.process_after
                limit 1
             ) <= v_now
    loop
      perform dot_queue.flip_due(p_command, p_lease_holder, v_kind, 100, v_now);
    end loop;
  end if;

  loop
    if cardinality(v_kinds) = 1 then
      v_ids := array(
        select q.job_id
          from public.job_queue q
         where q.job_kind = v_kinds[1]
           and q.status = 'queued'
           and q.claimable
           and q.job_id <> all (v_bad)
         order by q.priority desc, q.enqueued_at, q.job_id
         limit (select p_limit - cardinality(v_granted))
           for update skip locked
      );
    else
      v_ids := dot_queue.lock_heads(v_kinds, p_limit - cardinality(v_granted), v_bad);
    end if;
    exit when cardinality(v_ids) = 0;
    begin
      perform dot_queue.grant_leases(p_command, v_ids, p_lease_name, p_lease_holder,
                                     p_lease_ttl_seconds);
      v_granted := v_granted || v_ids;
    exception when others then
      -- One row that cannot be written must not stop every claim of its kind.
      foreach v_id in array v_ids loop
        begin
          perform dot_queue.grant_leases(p_command, array[v_id], p_lease_name, p_lease_holder,
                                         p_lease_ttl_seconds);
          v_granted := v_granted || v_id;
        exception when others then
          v_bad := v_bad || v_id;
        end;
      end loop;
    end;
    exit when cardinality(v_granted) >= p_limit or cardinality(v_bad) = 0;
  end loop;
  return v_granted;
end
$$;

-- The best p_limit claimable rows of several kinds, locked. Reads the head of each kind's index
-- without locks, merges them in claim order, and locks one by one with a re-check: a lateral
-- subquery per kind with FOR UPDATE would lock the head of every kind. A kind whose head was read
-- to its end may hide a better row behind it, so the merge stops there and looks deeper.
create function dot_queue.lock_heads(p_kinds text[], p_limit integer, p_bad uuid[])
returns uuid[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_depth integer := 2 * p_limit + 16;
  v_seen uuid[] := p_bad;
  v_ids uuid[] := array[]::uuid[];
  v_head record;
  v_deeper boolean;
begin
  loop
    v_deeper := false;
    for v_head in
      select h.job_id, h.place
        from unnest(p_kinds) k(kind)
       cross join lateral (
               select q.job_id,
                      q.priority,
                      q.enqueued_at,
                      row_number() over (order by q.priority desc, q.enqueued_at, q.job_id) as place
                 from public.job_queue q
                where q.job_kind = k.kind
                  and q.status = 'queued'
                  and q.claimable
                  and q.job_id <> all (v_seen)
                order by q.priority desc, q.enqueued_at, q.job_id
                limit (select v_depth)
             ) h
       order by h.priority desc, h.enqueued_at, h.job_id
    loop
      perform 1
         from public.job_queue q
        where q.job_id = v_head.job_id
          and q.status = 'queued'
          and q.claimable
          for update skip locked;
      if found then
        v_ids := v_ids || v_head.job_id;
      end if;
      v_seen := v_seen || v_head.job_id;
      if cardinality(v_ids) >= p_limit then
        return v_ids;
      end if;
      if v_head.place = v_depth then
        v_deeper := true;
        exit;
      end if;
    end loop;
    if not v_deeper then
      return v_ids;
    end if;
    v_depth := least(v_depth * 2, 10000);
  end loop;
end
$$;

-- Grants a lease on each of these rows, which the caller has locked: a new token each, the time
-- read after the lock, the mirror, the audit.
create function dot_queue.grant_leases(
  p_command text,
  p_job_ids uuid[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  update public.job_queue q
     set status = 'leased',
         claimable = false,
         attempts = q.attempts + 1,
         lease_name = coalesce(p_lease_name, 'job:' || q.job_id),
         lease_holder = p_lease_holder,
         lease_token = gen_random_uuid(),
         leased_at = v_now,
         leased_until = v_now + make_interval(secs => coalesce(p_lease_ttl_seconds,
           dot_queue.config('queue.lease.ttl_seconds.default', q.job_kind)::integer))
   where q.job_id = any (p_job_ids);
  perform dot_queue.mirror_put(p_job_ids);
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, status_from, status_to, attempt, refused, run_at)
  select p_command, p_lease_holder, session_user, q.job_id, 'queued', 'leased', q.attempts, false,
         clock_timestamp()
    from public.job_queue q
   where q.job_id = any (p_job_ids);
end
$$;

-- What is wrong with a claim's arguments or with the configuration it needs, or NULL (§8.5).
create function dot_queue.claim_refusal(
  p_kinds text[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer,
  p_limit integer
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_argument text;
  v_problem text;
begin
  v_argument := 'p_kinds';
  v_problem := case
    when coalesce(cardinality(p_kinds), 0) = 0 then 'required'
    when cardinality(p_kinds) > 1000 then 'more than 1000 kinds'
    else (
      select k.problem
        from (
               select dot_queue.kind_problem(u.kind) as problem, u.place
                 from unnest(p_kinds) with ordinality u(kind, place)
             ) k
       where k.problem is not null
       order by k.place
       limit 1
    )
  end;
  if v_problem is null and p_lease_name is not null then
    v_argument := 'p_lease_name';
    v_problem := dot_queue.name_problem(p_lease_name);
  end if;
  if v_problem is null then
    v_argument := 'p_lease_holder';
    v_problem := dot_queue.name_problem(p_lease_holder);
  end if;
  if v_problem is null then
    v_argument := 'p_lease_ttl_seconds';
    v_problem := dot_queue.ttl_problem(p_lease_ttl_seconds);
  end if;
  if v_problem is null and p_limit not between 1 and 1000 then
    v_argument := 'p_limit';
    v_problem := 'must be from 1 to 1000';
  end if;
  if v_problem is not null then
    return dot_queue.invalid_argument(v_argument, v_problem);
  end if;
  return dot_queue.config_refusal(
    array['queue.job_substrate.enabled', 'queue.lease.ttl_seconds.default',
          'queue.lease.min_ttl_seconds', 'queue.lease.max_ttl_seconds', 'queue.retry.promoter',
          'queue.retry.max_attempts.default'],
    p_kinds);
end
$$;

-- The whole of a claim call, for both public forms: gate, arguments, configuration, grant, and the
-- rows.
create function dot_queue.claim_rows(
  p_command text,
  p_kinds text[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer,
  p_limit integer
)
returns table (
  job_id uuid,
  lease_token uuid,
  leased_until timestamptz,
  job_kind text,
  event_domain text,
  executor text,
  payload jsonb,
  priority integer,
  attempts integer,
  max_attempts integer,
  enqueued_at timestamptz
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
  v_ids uuid[];
begin
  v_refusal := dot_queue.gate(p_command);
  if v_refusal ->> 'reason' = 'substrate_disabled' then
    return;
  end if;
  v_refusal := coalesce(v_refusal, dot_queue.claim_refusal(p_kinds, p_lease_name, p_lease_holder,
                                                           p_lease_ttl_seconds, p_limit));
  if v_refusal is not null then
    perform dot_queue.raise_refusal(v_refusal);
  end if;
  v_ids := dot_queue.claim(p_command, p_kinds, p_lease_name, p_lease_holder, p_lease_ttl_seconds,
                           p_limit);
  return query
  select q.job_id,
         q.lease_token,
         q.leased_until,
         q.job_kind,
         q.event_domain,
         q.executor,
         q.payload,
         q.priority,
         q.attempts,
         dot_queue.max_attempts(q.job_kind),
         q.enqueued_at
    from unnest(v_ids) with ordinality g(id, place)
    join public.job_queue q on q.job_id = g.id
   order by g.place;
end
$$;

-- helpers/enqueue.sql
-- What is wrong with the arguments of an enqueue, or NULL (§8.5, signal not data): in the order of
-- the arguments, then the configuration, then the executor set.
create function dot_queue.enqueue_refusal(
  p_job_kind text,
  p_event_domain text,
  p_executor text,
  p_idempotency_key text,
  p_payload jsonb,
  p_process_after timestamptz,
  p_actor text
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_argument text := 'p_job_kind';
  v_problem text := dot_queue.kind_problem(p_job_kind);
  v_refusal jsonb;
begin
  if v_problem is null then
    v_argument := 'p_event_domain';
    v_problem := dot_queue.name_problem(p_event_domain);
  end if;
  if v_problem is null then
    v_argument := 'p_executor';
    v_problem := dot_queue.name_problem(p_executor);
  end if;
  if v_problem is null then
    v_argument := 'p_idempotency_key';
    v_problem := dot_queue.name_problem(p_idempotency_key);
  end if;
  if v_problem is null and p_payload is null then
    v_argument := 'p_payload';
    v_problem := 'required';
  end if;
  if v_problem is not null then
    return dot_queue.invalid_argument(v_argument, v_problem);
  end if;

  v_refusal := coalesce(
    case when not dot_queue.payload_is_signal(p_payload) then
      dot_queue.refusal('payload_not_signal')
    end,
    case when not isfinite(p_process_after) then
      dot_queue.invalid_argument('p_process_after', 'must be finite')
    end,
    case
      when p_process_after > clock_timestamp()
        + make_interval(secs => dot_queue.config('queue.enqueue.max_delay_seconds')::integer) then
        dot_queue.invalid_argument('p_process_after',
                                   'further ahead than queue.enqueue.max_delay_seconds')
    end,
    dot_queue.actor_refusal(p_actor),
    dot_queue.config_refusal(array['queue.job_substrate.enabled', 'queue.enqueue.dedupe_seconds',
                                   'queue.enqueue.max_delay_seconds']));
  if v_refusal is not null then
    return v_refusal;
  end if;

  perform 1
     from public.job_executor e
    where e.executor = p_executor
      and e.job_kind in (p_job_kind, '*')
      and e.enabled;
  if not found then
    return dot_queue.refusal('unknown_executor',
      jsonb_build_object('executor', p_executor, 'job_kind', p_job_kind));
  end if;
  return null;
end
$$;

-- Is this a signal, not data? An object, small, and no numeric array longer than 64. The size is
-- asked first: a deep document must not reach the path query.
create function dot_queue.payload_is_signal(p_payload jsonb)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_payload) <> 'object' then
    return false;
  end if;
  if octet_length(p_payload::text) > 8192 then
    return false;
  end if;
  return not jsonb_path_exists(p_payload,
    'strict $.** ? (@.type() == "array" && @.size() > 64
                    && !exists(@[*] ? (@.type() != "number")))');
end
$$;

-- Stores one job whose arguments are good (§7): finds the active job of this key, the one that has
-- just finished, or makes a new one. Loops, since a job may finish between the look and the insert.
create function dot_queue.enqueue_one(
  p_command text,
  p_job_kind text,
  p_event_domain text,
  p_executor text,
  p_idempotency_key text,
  p_payload jsonb,
  p_priority integer,
  p_process_after timestamptz,
  p_actor text
)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz;
  v_process_after timestamptz;
  v_job_id uuid;
  v_found record;
begin
  loop
    v_found := dot_queue.finished_twin(p_job_kind, p_event_domain, p_executor, p_idempotency_key,
                                       p_payload);
    if v_found.job_id is not null then
      return jsonb_build_object('refused', false, 'created', false, 'job_id', v_found.job_id,
                                'status', v_found.status, 'finished', true);
    end if;

    v_now := clock_timestamp();
    v_process_after := coalesce(p_process_after, v_now);
    insert into public.job_queue as q
      (job_kind, event_domain, executor, idempotency_key, payload, priority, status, claimable,
       process_after, enqueued_at)
    values (p_job_kind, p_event_domain, p_executor, p_idempotency_key, p_payload,
            coalesce(p_priority, 0), 'queued', v_process_after <= v_now, v_process_after, v_now)
    on conflict (idempotency_key)
      where status in ('queued', 'leased', 'in_progress', 'retry_waiting')
      do nothing
    returning q.job_id
      into v_job_id;
    if v_job_id is not null then
      -- The twin may have finished between the look and the insert, which would run the work twice.
      v_found := dot_queue.finished_twin(p_job_kind, p_event_domain, p_executor, p_idempotency_key,
                                         p_payload);
      if v_found.job_id is not null then
        delete from public.job_queue q
         where q.job_id = v_job_id;
        return jsonb_build_object('refused', false, 'created', false, 'job_id', v_found.job_id,
                                  'status', v_found.status, 'finished', true);
      end if;
      perform dot_queue.audit(p_command, p_actor, v_job_id, null, 'queued', 0);
      return jsonb_build_object('refused', false, 'created', true, 'job_id', v_job_id,
                                'status', 'queued');
    end if;

    select q.job_id,
           q.status,
           q.job_kind = p_job_kind
             and q.event_domain = p_event_domain
             and q.executor = p_executor
             and q.payload = p_payload as same_content
      into v_found
      from public.job_queue q
     where q.idempotency_key = p_idempotency_key
       and q.status in ('queued', 'leased', 'in_progress', 'retry_waiting');
    if found and v_found.same_content then
      return jsonb_build_object('refused', false, 'created', false, 'job_id', v_found.job_id,
                                'status', v_found.status);
    end if;
    if found then
      return dot_queue.refuse(p_command, p_actor, v_found.job_id,
        dot_queue.refusal('idempotency_conflict',
          jsonb_build_object('job_id', v_found.job_id, 'status', v_found.status)));
    end if;
  end loop;
end
$$;

-- The job of the same key and content that finished within queue.enqueue.dedupe_seconds, if any:
-- the answer of its enqueue may have been lost, and the caller asks again.
create function dot_queue.finished_twin(
  p_job_kind text,
  p_event_domain text,
  p_executor text,
  p_idempotency_key text,
  p_payload jsonb,
  out job_id uuid,
  out status text
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_since timestamptz := clock_timestamp()
    - make_interval(secs => dot_queue.config('queue.enqueue.dedupe_seconds')::integer);
begin
  select q.job_id, q.status
    into job_id, status
    from public.job_queue q
   where q.idempotency_key = p_idempotency_key
     and q.finished_at is not null
     and q.finished_at > v_since
     and q.job_kind = p_job_kind
     and q.event_domain = p_event_domain
     and q.executor = p_executor
     and q.payload = p_payload
   order by q.finished_at desc
   limit 1;
end
$$;

-- helpers/enqueue_batch.sql
-- One item of a batch as the arguments of an enqueue. `refusal` is set when a key is unknown or a
-- value has the wrong JSON type; JSON null stands for the default, as NULL does.
create function dot_queue.enqueue_item(
  p_item jsonb,
  out refusal jsonb,
  out priority integer,
  out process_after timestamptz
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_number numeric;
begin
  if jsonb_typeof(p_item) <> 'object' then
    refusal := dot_queue.invalid_argument('p_jobs', 'item must be an object');
    return;
  end if;

  select k.key
    into v_key
    from jsonb_object_keys(p_item) k(key)
   where k.key not in ('job_kind', 'event_domain', 'executor', 'idempotency_key', 'payload',
                       'priority', 'process_after', 'actor')
   order by k.key collate "C"
   limit 1;
  if found then
    refusal := dot_queue.invalid_argument(left(v_key, 200), 'unknown key');
    return;
  end if;

  select t.key
    into v_key
    from unnest(array['job_kind', 'event_domain', 'executor', 'idempotency_key', 'process_after',
                      'actor'])
           with ordinality t(key, place)
   where jsonb_typeof(p_item -> t.key) not in ('string', 'null')
   order by t.place
   limit 1;
  if found then
    refusal := dot_queue.invalid_argument('p_' || v_key, 'must be a string');
    return;
  end if;

  if jsonb_typeof(p_item -> 'priority') not in ('number', 'null') then
    refusal := dot_queue.invalid_argument('p_priority', 'must be a number');
    return;
  end if;
  v_number := (p_item ->> 'priority')::numeric;
  if v_number <> trunc(v_number) or v_number not between -2147483648 and 2147483647 then
    refusal := dot_queue.invalid_argument('p_priority', 'must be a whole number of 32 bits');
    return;
  end if;
  priority := v_number::integer;

  begin
    process_after := (p_item ->> 'process_after')::timestamptz;
  exception when others then
    refusal := dot_queue.invalid_argument('p_process_after', 'must be a time');
  end;
end
$$;

-- The results of a batch, in the order of its items. With p_each, an item that raises is answered
-- item_failed and undone by itself; without, it undoes the batch and the caller comes again.
create function dot_queue.enqueue_items(p_jobs jsonb, p_actor text, p_each boolean)
returns jsonb[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_results jsonb[] := array_fill(null::jsonb, array[jsonb_array_length(p_jobs)]);
  v_item record;
begin
  for v_item in
    select j.job, j.place
      from jsonb_array_elements(p_jobs) with ordinality j(job, place)
     order by (case when jsonb_typeof(j.job) = 'object' then j.job ->> 'idempotency_key' end)
                collate "C",
              j.place
  loop
    if p_each then
      begin
        v_results[v_item.place] := dot_queue.enqueue_checked(v_item.job, p_actor);
      exception when others then
        v_results[v_item.place] := dot_queue.refuse('fn_job_enqueue_batch', p_actor, null,
          dot_queue.refusal('item_failed', jsonb_build_object('sqlstate', sqlstate)));
      end;
    else
      v_results[v_item.place] := dot_queue.enqueue_checked(v_item.job, p_actor);
    end if;
  end loop;
  return v_results;
end
$$;

-- Checks one item and stores it.
create function dot_queue.enqueue_checked(p_item jsonb, p_actor text)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_item record;
  v_actor text;
  v_refusal jsonb;
begin
  v_item := dot_queue.enqueue_item(p_item);
  v_actor := p_actor;
  if jsonb_typeof(p_item) = 'object' then
    v_actor := coalesce(p_item ->> 'actor', p_actor);
  end if;
  v_refusal := coalesce(
    v_item.refusal,
    dot_queue.enqueue_refusal(
      p_item ->> 'job_kind', p_item ->> 'event_domain', p_item ->> 'executor',
      p_item ->> 'idempotency_key',
      case when jsonb_typeof(p_item -> 'payload') <> 'null' then p_item -> 'payload' end,
      v_item.process_after, v_actor));
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_enqueue_batch', v_actor, null, v_refusal);
  end if;
  return dot_queue.enqueue_one(
    'fn_job_enqueue_batch', p_item ->> 'job_kind', p_item ->> 'event_domain', p_item ->> 'executor',
    p_item ->> 'idempotency_key', p_item -> 'payload', v_item.priority, v_item.process_after,
    v_actor);
end
$$;

-- host/dot_config_guard.sql
-- The guard of the queue's own keys; other documents' keys, queue.* among them, pass untouched.
create trigger dot_config_dieu45_guard
  after insert or update on public.dot_config
  for each row
  when (
    new.key ~ '^queue\.(job_substrate|retry|lease|lease_reaper|enqueue|dlq|refusal|gap|health)\.'
  )
  execute function dot_queue.config_guard();

-- functions/fn_job_enqueue.sql
-- Puts a job into the queue, once per active idempotency key (§7). Answers {refused, created,
-- job_id, status, finished?}: the same active key and content again is created: false; one that has
-- just finished adds finished: true.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, payload_not_signal,
-- actor_required, config_invalid, unknown_executor, idempotency_conflict.
create function public.fn_job_enqueue(
  p_job_kind text,
  p_event_domain text,
  p_executor text,
  p_idempotency_key text,
  p_payload jsonb,
  p_priority integer default 0,
  p_process_after timestamptz default null,
  p_actor text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_enqueue'),
    dot_queue.enqueue_refusal(p_job_kind, p_event_domain, p_executor, p_idempotency_key, p_payload,
                              p_process_after, p_actor));
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_enqueue', p_actor, null, v_refusal);
  end if;
  return dot_queue.enqueue_one('fn_job_enqueue', p_job_kind, p_event_domain, p_executor,
                               p_idempotency_key, p_payload, p_priority, p_process_after, p_actor);
end
$$;

-- functions/fn_job_enqueue_batch.sql
-- Enqueues up to 1000 jobs (§10.1): result i belongs to item i, and a refused item undoes no other.
-- Item keys are the argument names of fn_job_enqueue without p_. Inserts in key order: two batches
-- in opposite order would otherwise deadlock on each other's keys.
-- Answers {refused, results: [as fn_job_enqueue]}. An item may be refused as by fn_job_enqueue, or
-- item_failed {sqlstate} when its row cannot be written.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, actor_required, item_failed.
create function public.fn_job_enqueue_batch(p_jobs jsonb, p_actor text default null)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
  v_results jsonb[];
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_enqueue_batch'),
    case
      when p_jobs is null then dot_queue.invalid_argument('p_jobs', 'required')
      when jsonb_typeof(p_jobs) <> 'array' then
        dot_queue.invalid_argument('p_jobs', 'must be an array')
      when jsonb_array_length(p_jobs) > 1000 then
        dot_queue.invalid_argument('p_jobs', 'more than 1000 items')
    end,
    dot_queue.actor_refusal(p_actor));
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_enqueue_batch', p_actor, null, v_refusal);
  end if;
  begin
    v_results := dot_queue.enqueue_items(p_jobs, p_actor, false);
  exception when others then
    -- One item cannot be written: store each by itself, so that the others are.
    v_results := dot_queue.enqueue_items(p_jobs, p_actor, true);
  end;
  return jsonb_build_object('refused', false, 'results', to_jsonb(v_results));
end
$$;

-- functions/fn_job_claim.sql
-- Claims the best claimable job of these kinds, or none (§5.2, §8.3, DP3 §3.1). Returns 0 or 1 row;
-- with the substrate off, none. A refusal is raised as D4500 (contract of §8.5 for row-returning
-- functions).
-- Refusals: isolation_level, invalid_argument, config_invalid.
create function public.fn_job_claim(
  p_kinds text[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer default null
)
returns table (
  job_id uuid,
  lease_token uuid,
  leased_until timestamptz,
  job_kind text,
  event_domain text,
  executor text,
  payload jsonb,
  priority integer,
  attempts integer,
  max_attempts integer,
  enqueued_at timestamptz
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select *
    from dot_queue.claim_rows('fn_job_claim', p_kinds, p_lease_name, p_lease_holder,
                              p_lease_ttl_seconds, 1);
end
$$;

-- functions/fn_job_claim_batch.sql
-- Claims up to p_limit jobs under the rules of fn_job_claim, returned in claim order (§10.1). A
-- claim that is rolled back leaves no trace. Refusals, raised as D4500: isolation_level,
-- invalid_argument, config_invalid.
create function public.fn_job_claim_batch(
  p_kinds text[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer default null,
  p_limit integer default 1
)
returns table (
  job_id uuid,
  lease_token uuid,
  leased_until timestamptz,
  job_kind text,
  event_domain text,
  executor text,
  payload jsonb,
  priority integer,
  attempts integer,
  max_attempts integer,
  enqueued_at timestamptz
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select *
    from dot_queue.claim_rows('fn_job_claim_batch', p_kinds, p_lease_name, p_lease_holder,
                              p_lease_ttl_seconds, coalesce(p_limit, 1));
end
$$;

-- functions/fn_job_lease_renew.sql
-- Moves the end of a live lease (§8.3): to least(now + ttl, leased_at + max_hold_seconds). Never
-- shortens it, never resurrects one that is over. Writes no audit row of its own, only that of a
-- refusal.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, job_not_found, already_terminal,
-- not_leased, lease_token_mismatch, lease_expired, lease_held_too_long.
create function public.fn_job_lease_renew(
  p_job_id uuid,
  p_lease_token uuid,
  p_lease_ttl_seconds integer default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := dot_queue.ttl_problem(p_lease_ttl_seconds);
  v_call record;
  v_job public.job_queue;
  v_ttl_seconds integer;
  v_longest timestamptz;
  v_until timestamptz;
begin
  v_call := dot_queue.lease_call('fn_job_lease_renew', p_job_id, p_lease_token, null,
    case when v_problem is not null then
      dot_queue.invalid_argument('p_lease_ttl_seconds', v_problem)
    end, null);
  if v_call.answer is not null then
    return v_call.answer;
  end if;
  v_job := v_call.job;

  v_longest := v_job.leased_at
    + make_interval(secs => dot_queue.config('queue.lease.max_hold_seconds')::integer);
  if v_longest <= v_job.leased_until then
    return dot_queue.refuse('fn_job_lease_renew', v_call.actor, p_job_id,
      dot_queue.refusal('lease_held_too_long',
        jsonb_build_object('job_id', p_job_id, 'status', v_job.status,
                           'leased_until', v_job.leased_until)));
  end if;

  v_ttl_seconds := coalesce(p_lease_ttl_seconds,
    dot_queue.config('queue.lease.ttl_seconds.default', v_job.job_kind)::integer);
  v_until := greatest(v_job.leased_until,
                      least(v_call.at + make_interval(secs => v_ttl_seconds), v_longest));
  update public.job_queue q
     set leased_until = v_until
   where q.job_id = p_job_id;
  perform dot_queue.mirror_move(p_job_id, v_until, v_call.at);
  return jsonb_build_object('refused', false, 'job_id', p_job_id, 'status_from', v_job.status,
                            'status_to', v_job.status, 'attempts', v_job.attempts,
                            'leased_until', v_until);
end
$$;

-- functions/fn_job_progress.sql
-- Says that the work has begun or goes on (§6.7): leased → in_progress; again it only records. Does
-- not extend the lease.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, actor_required, job_not_found,
-- already_terminal, not_leased, lease_token_mismatch, lease_expired.
create function public.fn_job_progress(
  p_job_id uuid,
  p_lease_token uuid,
  p_actor text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_call record;
  v_job public.job_queue;
begin
  v_call := dot_queue.lease_call('fn_job_progress', p_job_id, p_lease_token, p_actor, null, null);
  if v_call.answer is not null then
    return v_call.answer;
  end if;
  v_job := v_call.job;

  update public.job_queue q
     set status = 'in_progress'
   where q.job_id = p_job_id;
  perform dot_queue.audit('fn_job_progress', v_call.actor, p_job_id, v_job.status, 'in_progress',
                          v_job.attempts);
  return jsonb_build_object('refused', false, 'job_id', p_job_id, 'status_from', v_job.status,
                            'status_to', 'in_progress', 'attempts', v_job.attempts,
                            'leased_until', v_job.leased_until);
end
$$;

-- functions/fn_job_succeed.sql
-- Ends a lease with success (§6.7). A leased job passes through in_progress in the same statement,
-- and the audit shows both steps. Asked again with the token that succeeded, it answers the same
-- and adds already_applied.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, actor_required, job_not_found,
-- already_terminal, not_leased, lease_token_mismatch, lease_expired.
create function public.fn_job_succeed(
  p_job_id uuid,
  p_lease_token uuid,
  p_actor text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_call record;
  v_job public.job_queue;
  v_outcome jsonb;
begin
  v_call := dot_queue.lease_call('fn_job_succeed', p_job_id, p_lease_token, p_actor, null, null);
  if v_call.answer is not null then
    return v_call.answer;
  end if;
  v_job := v_call.job;

  v_outcome := jsonb_build_object('refused', false, 'job_id', p_job_id, 'status_from', v_job.status,
                                  'status_to', 'succeeded', 'attempts', v_job.attempts);
  update public.job_queue q
     set status = 'succeeded',
         lease_name = null,
         lease_holder = null,
         lease_token = null,
         leased_at = null,
         leased_until = null,
         ended_token = p_lease_token,
         ended_by = 'fn_job_succeed',
         ended_outcome = v_outcome,
         finished_at = v_call.at
   where q.job_id = p_job_id;
  perform dot_queue.mirror_drop(array[p_job_id]);
  if v_job.status = 'leased' then
    perform dot_queue.audit('fn_job_succeed', v_call.actor, p_job_id, 'leased', 'in_progress',
                            v_job.attempts);
  end if;
  perform dot_queue.audit('fn_job_succeed', v_call.actor, p_job_id, 'in_progress', 'succeeded',
                          v_job.attempts);
  return v_outcome;
end
$$;

-- functions/fn_job_fail_transient.sql
-- Ends a lease with a failure that another attempt may cure (§8.1, §8.2, DP3 §3.3): below the
-- maximum the job waits for its back-off, at the maximum it is dead. The error texts may hold
-- anything: they are cleaned and cut, and the transition always happens.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, actor_required, job_not_found,
-- already_terminal, not_leased, lease_token_mismatch, lease_expired.
create function public.fn_job_fail_transient(
  p_job_id uuid,
  p_lease_token uuid,
  p_error_code text,
  p_error_message text,
  p_actor text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_call record;
  v_job public.job_queue;
  v_process_after timestamptz;
  v_outcome jsonb;
begin
  v_call := dot_queue.lease_call('fn_job_fail_transient', p_job_id, p_lease_token, p_actor, null,
                                 null);
  if v_call.answer is not null then
    return v_call.answer;
  end if;
  v_job := v_call.job;

  if v_job.attempts >= dot_queue.max_attempts(v_job.job_kind) then
    return dot_queue.dead_letter('fn_job_fail_transient', v_call.actor, p_job_id,
                                 dot_queue.error_code(p_error_code), p_error_message, v_call.at);
  end if;

  v_process_after := dot_queue.next_process_after(v_job.attempts, v_call.at);
  v_outcome := jsonb_build_object('refused', false, 'job_id', p_job_id, 'status_from', v_job.status,
                                  'status_to', 'retry_waiting', 'attempts', v_job.attempts,
                                  'process_after', v_process_after);
  update public.job_queue q
     set status = 'retry_waiting',
         process_after = v_process_after,
         lease_name = null,
         lease_holder = null,
         lease_token = null,
         leased_at = null,
         leased_until = null,
         ended_token = p_lease_token,
         ended_by = 'fn_job_fail_transient',
         ended_outcome = v_outcome,
         first_failed_at = coalesce(q.first_failed_at, v_call.at),
         last_error = dot_queue.error_text(p_error_code, p_error_message),
         last_error_at = v_call.at
   where q.job_id = p_job_id;
  perform dot_queue.mirror_drop(array[p_job_id]);
  perform dot_queue.audit('fn_job_fail_transient', v_call.actor, p_job_id, v_job.status,
                          'retry_waiting', v_job.attempts,
                          jsonb_build_object('error_code', dot_queue.error_code(p_error_code)));
  return v_outcome;
end
$$;

-- functions/fn_job_fail_permanent.sql
-- Ends a lease with a failure that no attempt can cure (§8.5, DP3 §3.4): the job is dead at once,
-- its attempts raised to the maximum in the queue and kept true in the dead letter.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, actor_required,
-- acknowledgement_required, job_not_found, already_terminal, not_leased, lease_token_mismatch,
-- lease_expired.
create function public.fn_job_fail_permanent(
  p_job_id uuid,
  p_lease_token uuid,
  p_error_code text,
  p_error_message text,
  p_actor text default null,
  p_acknowledged_by text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_call record;
begin
  v_call := dot_queue.lease_call('fn_job_fail_permanent', p_job_id, p_lease_token, p_actor, null,
    case
      when p_acknowledged_by ~ '[^[:space:]]'
       and dot_queue.name_problem(p_acknowledged_by) is not null then
        dot_queue.invalid_argument('p_acknowledged_by', dot_queue.name_problem(p_acknowledged_by))
      when coalesce(p_acknowledged_by, '') !~ '[^[:space:]]'
       and dot_queue.config('queue.refusal.acknowledgement_required') = 'true' then
        dot_queue.refusal('acknowledgement_required')
    end);
  if v_call.answer is not null then
    return v_call.answer;
  end if;

  return dot_queue.dead_letter('fn_job_fail_permanent', v_call.actor, p_job_id,
                               dot_queue.error_code(p_error_code), p_error_message, v_call.at,
                               p_acknowledged_by);
end
$$;

-- functions/fn_job_move_to_dead_letter.sql
-- Moves a held job to its dead letter (DP3 §3.4). Internal: no role may call it. The failure paths
-- and the reaper go through the same helper.
-- Refusals: invalid_argument, job_not_found, already_terminal, not_leased.
create function public.fn_job_move_to_dead_letter(
  p_job_id uuid,
  p_failure_code text,
  p_failure_detail text
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
  v_status text;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_move_to_dead_letter'),
    case when p_job_id is null then dot_queue.invalid_argument('p_job_id', 'required') end);
  if v_refusal is null then
    select q.status
      into v_status
      from public.job_queue q
     where q.job_id = p_job_id
       for update;
    v_refusal := case
      when not found then dot_queue.refusal('job_not_found', jsonb_build_object('job_id', p_job_id))
      when v_status in ('succeeded', 'dead_letter', 'cleaned') then
        dot_queue.refusal('already_terminal',
          jsonb_build_object('job_id', p_job_id, 'status', v_status))
      when v_status in ('queued', 'retry_waiting') then
        dot_queue.refusal('not_leased',
          jsonb_build_object('job_id', p_job_id, 'status', v_status))
    end;
  end if;
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_move_to_dead_letter', null, p_job_id, v_refusal);
  end if;
  return dot_queue.dead_letter('fn_job_move_to_dead_letter', null, p_job_id,
                               dot_queue.error_code(p_failure_code), p_failure_detail,
                               clock_timestamp());
end
$$;

-- functions/fn_job_lease_reaper.sql
-- The safety net (§8.3, §15.5, DP3 §3.6): ends leases that have expired, oldest first, skipping
-- what is locked. Set-based; row by row only when that raises, so that a row which cannot be
-- written is reported and stops no other. Such a row does not count toward the limit.
-- Answers {refused, reaped, dead_lettered, skipped: [{job_id, sqlstate}], runtime_leases_deleted};
-- reaped counts every lease that ended, dead_lettered those of them whose job died.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, reaper_disabled.
create function public.fn_job_lease_reaper(p_limit integer default 1000)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started_at timestamptz := clock_timestamp();
  v_limit integer := coalesce(p_limit, 1000);
  v_refusal jsonb;
  v_now timestamptz;
  v_ids uuid[];
  v_id uuid;
  v_bad uuid[] := array[]::uuid[];
  v_skipped jsonb := jsonb_build_array();
  v_done integer := 0;
  v_dead integer := 0;
  v_leases integer;
  v_counts jsonb;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_lease_reaper'),
    case when v_limit not between 1 and 100000 then
      dot_queue.invalid_argument('p_limit', 'must be from 1 to 100000')
    end,
    case when dot_queue.config('queue.lease_reaper.enabled') = 'false' then
      dot_queue.refusal('reaper_disabled')
    end);
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_lease_reaper', null, null, v_refusal);
  end if;

  loop
    v_now := clock_timestamp();
    v_ids := array(
      select q.job_id
        from public.job_queue q
       where q.status in ('leased', 'in_progress')
         and q.leased_until <= v_now
         and q.job_id <> all (v_bad)
       order by q.leased_until
       limit (select v_limit - v_done)
         for update skip locked
    );
    exit when cardinality(v_ids) = 0;
    begin
      v_dead := v_dead + dot_queue.reap_rows(v_ids, v_now);
      v_done := v_done + cardinality(v_ids);
    exception when others then
      foreach v_id in array v_ids loop
        begin
          v_dead := v_dead + dot_queue.reap_rows(array[v_id], v_now);
          v_done := v_done + 1;
        exception when others then
          v_bad := v_bad || v_id;
          v_skipped := v_skipped || jsonb_build_object('job_id', v_id, 'sqlstate', sqlstate);
        end;
      end loop;
    end;
    exit when v_done >= v_limit;
  end loop;

  v_leases := dot_queue.delete_expired_runtime_leases(v_limit, clock_timestamp());
  v_counts := jsonb_build_object('reaped', v_done, 'dead_lettered', v_dead, 'skipped', v_skipped,
                                 'runtime_leases_deleted', v_leases);
  insert into public.job_sweep (command, started_at, finished_at, counts)
  values ('fn_job_lease_reaper', v_started_at, clock_timestamp(), v_counts);
  return jsonb_build_object('refused', false) || v_counts;
end
$$;

-- functions/fn_job_promote_due.sql
-- Makes due rows claimable, of every kind, earliest first (§8.1, DP3 §3.3). A claim does so itself
-- while queue.retry.promoter is `claim`; with `job` this function alone does.
-- Answers {refused, promoted}. Refusals: substrate_disabled, isolation_level, invalid_argument.
create function public.fn_job_promote_due(p_limit integer default 1000)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started_at timestamptz := clock_timestamp();
  v_limit integer := coalesce(p_limit, 1000);
  v_refusal jsonb;
  v_share record;
  v_flip record;
  v_bad uuid[] := array[]::uuid[];
  v_known_bad integer;
  v_promoted integer := 0;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_promote_due'),
    case when v_limit not between 1 and 100000 then
      dot_queue.invalid_argument('p_limit', 'must be from 1 to 100000')
    end);
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_promote_due', null, null, v_refusal);
  end if;

  -- The earliest p_limit due rows over all kinds decide how many each kind may have, so that none
  -- starves. A row that cannot be written has no share, so the rows behind it are asked for again.
  loop
    v_known_bad := cardinality(v_bad);
    for v_share in
      select d.job_kind, count(*)::integer as rows
        from (
               select h.job_kind, h.process_after
                 from dot_queue.due_kinds(v_started_at) k
                cross join lateral (
                        select q.job_kind, q.process_after
                          from public.job_queue q
                         where q.job_kind = k.job_kind
                           and not q.claimable
                           and q.status in ('queued', 'retry_waiting')
                           and q.process_after <= v_started_at
                           and q.job_id <> all (v_bad)
                         order by q.process_after
                         limit (select v_limit - v_promoted)
                      ) h
                order by h.process_after
                limit (select v_limit - v_promoted)
             ) d
       group by d.job_kind
       order by d.job_kind
    loop
      v_flip := dot_queue.flip_due('fn_job_promote_due', null, v_share.job_kind, v_share.rows,
                                   v_started_at, v_bad);
      v_promoted := v_promoted + v_flip.flipped;
      v_bad := v_flip.bad;
    end loop;
    exit when v_promoted >= v_limit or cardinality(v_bad) = v_known_bad;
  end loop;

  insert into public.job_sweep (command, started_at, finished_at, counts)
  values ('fn_job_promote_due', v_started_at, clock_timestamp(),
          jsonb_build_object('promoted', v_promoted));
  return jsonb_build_object('refused', false, 'promoted', v_promoted);
end
$$;

-- functions/fn_job_dead_letter_triage_update.sql
-- Records what a person decided of a dead letter (§8.4, DLQ governance). Writes the dead letter's
-- triage columns and nothing else; a NULL note keeps the note that is there. Works while the
-- substrate is off.
-- Refusals: isolation_level, invalid_argument, invalid_triage_status, actor_required,
-- dead_letter_not_found.
create function public.fn_job_dead_letter_triage_update(
  p_dead_letter_id uuid,
  p_triage_status text,
  p_actor text,
  p_triage_note text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_allowed text[] := array['pending', 'acknowledged', 'manual_replay', 'escalated', 'closed'];
  v_actor text := coalesce(p_actor, session_user);
  v_refusal jsonb;
  v_from text;
  v_now timestamptz;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_dead_letter_triage_update'),
    case when p_dead_letter_id is null then
      dot_queue.invalid_argument('p_dead_letter_id', 'required')
    end,
    case when p_triage_status is null then
      dot_queue.invalid_argument('p_triage_status', 'required')
    end,
    case when p_triage_status <> all (v_allowed) then
      dot_queue.refusal('invalid_triage_status',
        jsonb_build_object('got', left(p_triage_status, 200), 'allowed', to_jsonb(v_allowed)))
    end,
    dot_queue.actor_refusal(p_actor),
    case when char_length(p_triage_note) > 4000 then
      dot_queue.invalid_argument('p_triage_note', 'longer than 4000 characters')
    end);
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_dead_letter_triage_update', p_actor, null, v_refusal,
                            p_dead_letter_id);
  end if;

  select d.triage_status
    into v_from
    from public.job_dead_letter d
   where d.dead_letter_id = p_dead_letter_id
     for update;
  v_now := clock_timestamp();
  if not found then
    return dot_queue.refuse('fn_job_dead_letter_triage_update', v_actor, null,
      dot_queue.refusal('dead_letter_not_found',
        jsonb_build_object('dead_letter_id', p_dead_letter_id)),
      p_dead_letter_id);
  end if;

  update public.job_dead_letter d
     set triage_status = p_triage_status,
         triage_note = coalesce(p_triage_note, d.triage_note),
         triaged_at = v_now,
         triaged_by = v_actor
   where d.dead_letter_id = p_dead_letter_id;
  perform dot_queue.audit('fn_job_dead_letter_triage_update', v_actor, null, null, null, null,
    jsonb_build_object('triage_status_from', v_from, 'triage_status_to', p_triage_status,
                       'triage_note', p_triage_note),
    p_dead_letter_id);
  return jsonb_build_object('refused', false, 'dead_letter_id', p_dead_letter_id,
                            'triage_status_from', v_from, 'triage_status_to', p_triage_status,
                            'triaged_at', v_now, 'triaged_by', v_actor);
end
$$;

-- functions/fn_job_dead_letter_requeue_dry_run.sql
-- What a requeue would do, without doing anything (§8.4, DLQ governance): the operator reads
-- would_action. The first obstacle wins: the gate, a dead letter that is resolved, a live job of
-- the same key.
-- Refusals: invalid_argument, dead_letter_not_found.
create function public.fn_job_dead_letter_requeue_dry_run(p_dead_letter_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_letter public.job_dead_letter;
  v_enabled boolean := dot_queue.config('queue.dlq.replay_enabled') = 'true';
  v_active uuid;
begin
  if p_dead_letter_id is null then
    return dot_queue.invalid_argument('p_dead_letter_id', 'required');
  end if;
  select *
    into v_letter
    from public.job_dead_letter d
   where d.dead_letter_id = p_dead_letter_id;
  if not found then
    return dot_queue.refusal('dead_letter_not_found',
      jsonb_build_object('dead_letter_id', p_dead_letter_id));
  end if;
  select q.job_id
    into v_active
    from public.job_queue q
   where q.idempotency_key = v_letter.idempotency_key
     and q.status in ('queued', 'leased', 'in_progress', 'retry_waiting');
  return jsonb_build_object(
    'mutation', false,
    'evaluated_at', clock_timestamp(),
    'replay_gate_enabled', v_enabled,
    'dead_letter_id', v_letter.dead_letter_id,
    'job_id_original', v_letter.job_id,
    'job_kind', v_letter.job_kind,
    'triage_status', v_letter.triage_status,
    'final_error', v_letter.failure_code,
    'attempts_at_failure', v_letter.attempts,
    'idempotency_key', v_letter.idempotency_key,
    'idempotency_collision',
      case
        when v_active is null then jsonb_build_object('blocked', false)
        else jsonb_build_object('blocked', true, 'active_job_id', v_active)
      end,
    'would_action',
      case
        when not v_enabled then 'refused: queue.dlq.replay_enabled=false'
        when v_letter.resolved_at is not null then 'refused: already_resolved'
        when v_active is not null then 'refused: idempotency_collision'
        else 'preview_only: Phase 2 ships no apply-side requeue'
      end);
end
$$;

-- functions/fn_job_get.sql
-- One job as it stands, never with a token (§6.7). Refusals: invalid_argument, job_not_found.
create function public.fn_job_get(p_job_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job jsonb;
begin
  if p_job_id is null then
    return dot_queue.invalid_argument('p_job_id', 'required');
  end if;
  select to_jsonb(q) - 'lease_token' - 'ended_token' - 'ended_outcome'
    into v_job
    from public.job_queue q
   where q.job_id = p_job_id;
  if not found then
    return dot_queue.refusal('job_not_found', jsonb_build_object('job_id', p_job_id));
  end if;
  return jsonb_build_object('refused', false) || v_job;
end
$$;

-- functions/fn_dead_letter_health.sql
-- The state of the dead letters, of events and of jobs (DP3 §8): {open_count_event, open_count_job,
-- oldest_first_failed_at, by_failure_code}, over what is open.
create function public.fn_dead_letter_health()
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_health jsonb;
begin
  with open_letter(layer, failure_code, first_failed_at) as (
    select 'event', e.failure_code, e.first_failed_at
      from dot_queue.host_event_dead_letter e
     where e.resolved_at is null
    union all
    select 'job', d.failure_code, d.first_failed_at
      from public.job_dead_letter d
     where d.resolved_at is null
  )
  select jsonb_build_object(
           'open_count_event', count(*) filter (where o.layer = 'event'),
           'open_count_job', count(*) filter (where o.layer = 'job'),
           'oldest_first_failed_at', min(o.first_failed_at),
           'by_failure_code', coalesce((
             select jsonb_object_agg(c.failure_code, c.letters)
               from (
                      select l.failure_code, count(*) as letters
                        from open_letter l
                       group by l.failure_code
                    ) c
           ), '{}'))
    into v_health
    from open_letter o;
  return v_health;
end
$$;

-- functions/fn_job_seed.sql
-- Inserts the default configuration, the executor that the rule ships (dot_iu, for every kind) and
-- the time of the install, where they are absent (DP3 §10). Idempotent. install.sql calls it; with
-- the extension its user does, because an extension script must not insert into a table that is
-- dumped.
-- Answers {refused, inserted}. Refusals: isolation_level.
create function public.fn_job_seed()
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb := dot_queue.gate('fn_job_seed');
  v_inserted integer;
  v_rows integer;
begin
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_seed', null, null, v_refusal);
  end if;
  insert into dot_queue.host_config (key, value, description, updated_at, updated_by)
  select k.key, k.default_value, k.description, clock_timestamp(), session_user
    from dot_queue.config_catalogue k
   where not exists (
           select 1
             from dot_queue.host_config c
            where c.key = k.key
         )
      on conflict (key) do nothing;
  get diagnostics v_inserted = row_count;
  insert into public.job_executor (executor, job_kind, enabled, updated_at, updated_by)
  values ('dot_iu', '*', true, clock_timestamp(), session_user)
  on conflict on constraint job_executor_pkey do nothing;
  get diagnostics v_rows = row_count;
  v_inserted := v_inserted + v_rows;
  insert into dot_queue.release (release)
  values ('2.0')
  on conflict on constraint release_pkey do nothing;
  get diagnostics v_rows = row_count;
  v_inserted := v_inserted + v_rows;
  if v_inserted > 0 then
    perform dot_queue.audit('fn_job_seed', null, null, null, null, null,
                            jsonb_build_object('inserted', v_inserted));
  end if;
  return jsonb_build_object('refused', false, 'inserted', v_inserted);
end
$$;

-- functions/fn_job_config_get.sql
-- One configuration value (DP3 §3.2): what is configured, what is in force, and what is wrong with
-- it.
-- Answers {refused, key, value, in_force, default, problem}. Refusals: invalid_argument.
create function public.fn_job_config_get(p_key text)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_catalogue_key text := dot_queue.config_catalogue_key(p_key);
  v_value text;
  v_problem text;
  v_kind text;
begin
  if v_catalogue_key is null then
    return dot_queue.invalid_argument('p_key',
      case when p_key is null then 'required' else 'unknown key' end);
  end if;
  if v_catalogue_key <> p_key then
    v_kind := substr(p_key, length(v_catalogue_key) - length('default') + 1);
  end if;
  select v.value
    into v_value
    from dot_queue.config_value v
   where v.key = p_key;
  select p.problem
    into v_problem
    from dot_queue.config_problem p
   where p.key = p_key;
  return jsonb_build_object(
    'refused', false,
    'key', p_key,
    'value', v_value,
    'in_force', dot_queue.config(v_catalogue_key, v_kind),
    'default', (
      select k.default_value
        from dot_queue.config_catalogue k
       where k.key = v_catalogue_key
    ),
    'problem', v_problem);
end
$$;

-- functions/fn_job_config_set.sql
-- Sets one configuration value, checked against the catalogue and against the other values, and
-- audited (DP3 §3.2, §7). A NULL value removes a kind's own key, and only such a key.
-- Answers {refused, key, value_from, value_to}. Refusals: isolation_level, invalid_argument,
-- actor_required.
create function public.fn_job_config_set(p_key text, p_value text, p_actor text default null)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
  v_from text;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_config_set'),
    case
      when p_key is null then dot_queue.invalid_argument('p_key', 'required')
      when dot_queue.config_catalogue_key(p_key) is null then
        dot_queue.invalid_argument('p_key', 'unknown key')
      when p_value is null and dot_queue.config_catalogue_key(p_key) = p_key then
        dot_queue.invalid_argument('p_value', 'required: only a kind''s own key can be removed')
    end,
    -- What is wrong with the value by itself comes before the actor, in the order of the arguments;
    -- whether it fits the other values is known only once it is written.
    (
      select dot_queue.invalid_argument('p_value', v.problem)
        from (
               select dot_queue.config_value_problem(k.value_type, k.min_value, k.max_value,
                                                     k.choices, p_value) as problem
                 from dot_queue.config_catalogue k
                where k.key = dot_queue.config_catalogue_key(p_key)
                  and p_value is not null
             ) v
       where v.problem is not null
    ),
    dot_queue.actor_refusal(p_actor));
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_config_set', p_actor, null, v_refusal);
  end if;

  begin
    loop
      -- Under the row's lock: of two writers of one key, the later must see what the earlier wrote.
      select c.value
        into v_from
        from dot_queue.host_config c
       where c.key = p_key
         for update;
      if found and p_value is null then
        delete from dot_queue.host_config c
         where c.key = p_key;
      elsif found then
        update dot_queue.host_config c
           set value = p_value,
               updated_at = clock_timestamp(),
               updated_by = coalesce(p_actor, session_user)
         where c.key = p_key;
      end if;
      exit when found or p_value is null;
      insert into dot_queue.host_config (key, value, updated_at, updated_by)
      values (p_key, p_value, clock_timestamp(), coalesce(p_actor, session_user))
      on conflict (key) do nothing;
      exit when found;
    end loop;
  exception when sqlstate 'D4500' then
    get stacked diagnostics v_from = pg_exception_detail;
    return dot_queue.refuse('fn_job_config_set', p_actor, null, v_from::jsonb - 'key');
  end;
  perform dot_queue.audit('fn_job_config_set', p_actor, null, null, null, null,
    jsonb_build_object('key', p_key, 'value_from', v_from, 'value_to', p_value));
  return jsonb_build_object('refused', false, 'key', p_key, 'value_from', v_from,
                            'value_to', p_value);
end
$$;

-- functions/fn_job_executor_set.sql
-- Registers an executor for a kind, or '*' for all, or takes it away with p_enabled false (§11.5).
-- Jobs that are already queued keep running; the gap view names those whose executor was taken
-- away.
-- Answers {refused, executor, job_kind, enabled}. Refusals: isolation_level, invalid_argument,
-- actor_required.
create function public.fn_job_executor_set(
  p_executor text,
  p_job_kind text,
  p_enabled boolean,
  p_actor text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := dot_queue.name_problem(p_executor);
  v_kind_problem text := case
    when p_job_kind is distinct from '*' then dot_queue.kind_problem(p_job_kind)
  end;
  v_refusal jsonb;
  v_from boolean;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_executor_set'),
    case when v_problem is not null then dot_queue.invalid_argument('p_executor', v_problem) end,
    case when v_kind_problem is not null then
      dot_queue.invalid_argument('p_job_kind', v_kind_problem)
    end,
    case when p_enabled is null then dot_queue.invalid_argument('p_enabled', 'required') end,
    dot_queue.actor_refusal(p_actor));
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_executor_set', p_actor, null, v_refusal);
  end if;

  loop
    -- Under the row's lock: of two writers, the later must see what the earlier wrote.
    select e.enabled
      into v_from
      from public.job_executor e
     where e.executor = p_executor
       and e.job_kind = p_job_kind
       for update;
    if found then
      update public.job_executor e
         set enabled = p_enabled,
             updated_at = clock_timestamp(),
             updated_by = coalesce(p_actor, session_user)
       where e.executor = p_executor
         and e.job_kind = p_job_kind;
      exit;
    end if;
    insert into public.job_executor (executor, job_kind, enabled, updated_at, updated_by)
    values (p_executor, p_job_kind, p_enabled, clock_timestamp(), coalesce(p_actor, session_user))
    on conflict on constraint job_executor_pkey do nothing;
    exit when found;
  end loop;
  perform dot_queue.audit('fn_job_executor_set', p_actor, null, null, null, null,
    jsonb_build_object('executor', p_executor, 'job_kind', p_job_kind, 'enabled_from', v_from,
                       'enabled_to', p_enabled));
  return jsonb_build_object('refused', false, 'executor', p_executor, 'job_kind', p_job_kind,
                            'enabled', p_enabled);
end
$$;

-- views/v_dead_letter_all.sql
-- Dead letters of both layers (DP3 §3.5), to the letter.
create view public.v_dead_letter_all as
  select 'event'::text as layer, e.event_ref as key, e.event_domain, e.event_type, e.route_code,
         e.failure_code, e.attempts, e.first_failed_at, e.last_failed_at,
         e.resolved_at, e.resolution
    from dot_queue.host_event_dead_letter e
  union all
  select 'job'::text as layer, d.job_id::text as key, d.event_domain, d.job_kind, d.executor,
         d.failure_code, d.attempts, d.first_failed_at, d.last_failed_at,
         d.resolved_at, d.resolution
    from public.job_dead_letter d;

-- views/v_job_dead_letter.sql
-- Dead letters of jobs, with their triage (§8.4).
create view public.v_job_dead_letter as
  select d.dead_letter_id,
         d.job_id as job_id_original,
         d.job_kind,
         d.event_domain,
         d.executor,
         d.idempotency_key,
         d.failure_code,
         d.failure_detail,
         d.attempts,
         d.first_failed_at,
         d.last_failed_at,
         d.triage_status,
         d.triage_note,
         d.triaged_at,
         d.triaged_by,
         d.resolved_at,
         d.resolution,
         d.resolution_note
    from public.job_dead_letter d;

-- views/v_job_retry_pressure.sql
-- Retry pressure by kind (DP3 §8), to the letter: a full scan, and read by nothing of ours.
create view public.v_job_retry_pressure as
  select q.job_kind,
         count(*) filter (where q.status = 'retry_waiting') as waiting,
         count(*) filter (where q.status = 'dead_letter') as dead,
         max(q.attempts) filter (where q.status <> 'cleaned') as max_attempts_seen
    from public.job_queue q
   group by q.job_kind;

-- views/v_lease_active.sql
-- Leases that are held (DP3 §8), to the letter; an expired one stays in sight until it is reaped.
create view public.v_lease_active as
  select q.lease_name,
         q.lease_holder,
         q.leased_until,
         extract(epoch from (q.leased_until - now())) as ttl_remaining
    from public.job_queue q
   where q.status in ('leased', 'in_progress');

-- views/v_queue_config.sql
-- Every key of the catalogue and of its families: configured value, value in force, default,
-- problem.
create view public.v_queue_config as
  select k.key,
         v.value,
         case
           when v.problem is null then coalesce(v.value, k.default_value)
           else k.default_value
         end as in_force,
         k.default_value,
         p.problem,
         k.description
    from dot_queue.config_catalogue k
    left join dot_queue.config_value v on v.key = k.key
    left join dot_queue.config_problem p on p.key = k.key
  union all
  select v.key, v.value, case when v.problem is null then v.value else v.default_value end,
         v.default_value, p.problem, null
    from dot_queue.config_value v
    left join dot_queue.config_problem p on p.key = v.key
   where v.catalogue_key is distinct from v.key;

-- views/v_job_silent_gap.sql
-- What has gone silent (§15.5): must be empty in a healthy system. For every job that is not over
-- there is a time after which a reason here names it. One branch a reason; bounds come from the
-- configuration.
create view public.v_job_silent_gap as
  with bound as (
    select max(c.value) filter (where c.key = 'queue.job_substrate.enabled') = 'false'
             as substrate_off,
           make_interval(secs =>
             (max(c.value) filter (where c.key = 'queue.lease_reaper.cadence_seconds'))::integer
             + (max(c.value) filter (where c.key = 'queue.lease_reaper.grace_seconds'))::integer)
             as reap_within,
           make_interval(secs => (
             max(c.value) filter (where c.key = 'queue.lease.max_hold_seconds')
           )::integer) as hold_within,
           make_interval(secs => (
             max(c.value) filter (where c.key = 'queue.gap.retry_due_seconds')
           )::integer) as due_within,
           make_interval(secs => (
             max(c.value) filter (where c.key = 'queue.gap.ready_seconds')
           )::integer) as ready_within,
           make_interval(secs => least(
             (max(c.value) filter (where c.key = 'queue.lease.ttl_seconds.default'))::integer,
             (
               select min(v.value::integer)
                 from dot_queue.config_value v
                where v.catalogue_key = 'queue.lease.ttl_seconds.default'
                  and v.problem is null
             )) / 2.0) as sweep_within,
           clock_timestamp() as at
      from dot_queue.config_in_force c
  ),
  gap(reason, job_id, job_kind, status, since, due_at) as (
    select 'lease_expired_unreaped', q.job_id, q.job_kind, q.status, q.leased_until,
           q.leased_until + b.reap_within
      from bound b
      join public.job_queue q on q.status in ('leased', 'in_progress')
       and q.leased_until < b.at - b.reap_within
    union all
    select 'lease_held_too_long', q.job_id, q.job_kind, q.status, q.leased_at,
           q.leased_at + b.hold_within
      from bound b
      join public.job_queue q on q.status in ('leased', 'in_progress')
       and q.leased_until > b.at
       and q.leased_at < b.at - b.hold_within
    union all
    select 'retry_due_unclaimed', q.job_id, q.job_kind, q.status, q.process_after,
           q.process_after + b.due_within
      from bound b
      join public.job_queue q on q.status = 'retry_waiting'
       and not q.claimable
       and q.process_after < b.at - b.due_within
    union all
    select 'due_not_promoted', q.job_id, q.job_kind, q.status, q.process_after,
           q.process_after + b.due_within
      from bound b
      join public.job_queue q on q.status = 'queued'
       and not q.claimable
       and q.process_after < b.at - b.due_within
    union all
    select 'ready_unclaimed', q.job_id, q.job_kind, q.status,
           greatest(q.enqueued_at, q.process_after),
           greatest(q.enqueued_at, q.process_after) + b.ready_within
      from bound b
      join public.job_queue q on q.status = 'queued'
       and q.claimable
       and greatest(q.enqueued_at, q.process_after) < b.at - b.ready_within
    union all
    select 'no_executor', q.job_id, q.job_kind, q.status, q.enqueued_at, q.enqueued_at
      from public.job_queue q
     where q.status in ('queued', 'leased', 'in_progress', 'retry_waiting')
       and not exists (
             select 1
               from public.job_executor e
              where e.executor = q.executor
                and e.job_kind in (q.job_kind, '*')
                and e.enabled
           )
    union all
    select 'dead_without_dead_letter', q.job_id, q.job_kind, q.status, q.finished_at, q.finished_at
      from public.job_queue q
     where q.status = 'dead_letter'
       and not exists (
             select 1
               from public.job_dead_letter d
              where d.job_id = q.job_id
           )
    union all
    select 'mirror_missing', q.job_id, q.job_kind, q.status, q.leased_at, q.leased_at
      from public.job_queue q
     where q.status in ('leased', 'in_progress')
       and not exists (
             select 1
               from dot_queue.host_lease l
              where l.lease_name = 'job:' || q.job_id
           )
    union all
    select 'mirror_orphan', substr(l.lease_name, 5)::uuid, null, null, l.acquired_at, l.acquired_at
      from dot_queue.host_lease l
     where l.lease_name ~ '^job:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
       and not exists (
             select 1
               from public.job_queue q
              where q.status in ('leased', 'in_progress')
                and 'job:' || q.job_id = l.lease_name
           )
    union all
    -- Measured from the later of the install and the last sweep; never installed counts as for
    -- ever.
    select 'reaper_stale', null, null, null, s.last_at, s.last_at + b.sweep_within
      from bound b
     cross join lateral (
             select coalesce(greatest(
                      (select max(r.installed_at) from dot_queue.release r),
                      (
                        select w.started_at
                          from public.job_sweep w
                         where w.command = 'fn_job_lease_reaper'
                         order by w.started_at desc
                         limit 1
                      )), '-infinity') as last_at
           ) s
     where s.last_at < b.at - b.sweep_within
    union all
    select 'config_missing', null, null, p.key, null, null
      from dot_queue.config_problem p
     where p.kind = 'missing'
    union all
    select 'config_invalid', null, null, p.key, null, null
      from dot_queue.config_problem p
     where p.kind = 'invalid'
    union all
    select 'substrate_off_with_backlog', null, null, null, w.oldest_at, w.oldest_at
      from bound b
     cross join lateral (
             select min(q.enqueued_at) as oldest_at
               from public.job_queue q
              where b.substrate_off
                and q.status in ('queued', 'leased', 'in_progress', 'retry_waiting')
           ) w
     where w.oldest_at is not null
    union all
    select 'event_lost', r.job_id, null, r.status_to, r.run_at, r.run_at
      from bound b
      join dot_queue.host_run r on r.detail ? 'event_lost'
       and r.run_at > b.at - interval '86400 seconds'
  )
  select g.reason,
         g.job_id,
         g.job_kind,
         g.status,
         g.since,
         case
           when isfinite(g.due_at) then extract(epoch from clock_timestamp() - g.due_at)::numeric
         end as overdue_seconds
    from gap g;

-- views/v_queue_health.sql
-- The health of the queue, one signal a row (DP3 §8, Điều 45 §15.5). Counts stop at
-- queue.health.count_cap; level then says `at_least`, unless the bound is passed already. Levels:
-- ok, alarm, at_least, none (a signal without a bound). Never reads v_job_retry_pressure, a full
-- scan.
create view public.v_queue_health as
  with c as (
    select jsonb_object_agg(f.key, f.value) as config,
           clock_timestamp() as at
      from dot_queue.config_in_force f
  ),
  cap as (
    select (c.config ->> 'queue.health.count_cap')::integer as rows
      from c
  ),
  signal(signal, value, bound, capped) as (
    select 'depth_' || s.status, n.rows::numeric, null::numeric, n.rows >= cap.rows
      from cap
     cross join unnest(array['leased', 'in_progress', 'retry_waiting', 'dead_letter', 'succeeded',
                             'cleaned']) s(status)
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_queue q
                       where q.status = s.status
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    select 'depth_queued_ready', n.rows, (c.config ->> 'queue.health.ready_max')::numeric,
           n.rows >= cap.rows
      from c
     cross join cap
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_queue q
                       where q.status = 'queued'
                         and q.claimable
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    select 'depth_queued_waiting', n.rows, null, n.rows >= cap.rows
      from cap
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_queue q
                       where q.status = 'queued'
                         and not q.claimable
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    select 'retries_due', n.rows, (c.config ->> 'queue.health.retries_due_max')::numeric,
           n.rows >= cap.rows
      from c
     cross join cap
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_queue q
                       where not q.claimable
                         and q.status = 'retry_waiting'
                         and q.process_after <= c.at
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    -- Ready since it could first be claimed: a job that was told to wait has not been waiting.
    select 'oldest_ready_seconds', extract(epoch from c.at - (
             select min(greatest(q.enqueued_at, q.process_after))
               from public.job_queue q
              where q.status = 'queued'
                and q.claimable
           ))::numeric,
           (c.config ->> 'queue.health.oldest_ready_seconds')::numeric, false
      from c
    union all
    select 'oldest_lease_seconds', extract(epoch from c.at - (
             select min(q.leased_at)
               from public.job_queue q
              where q.status in ('leased', 'in_progress')
           ))::numeric,
           (c.config ->> 'queue.lease.max_hold_seconds')::numeric, false
      from c
    union all
    select 'leases_expired_unreaped', n.rows, 0, n.rows >= cap.rows
      from c
     cross join cap
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_queue q
                       where q.status in ('leased', 'in_progress')
                         and q.leased_until < c.at - make_interval(secs =>
                               (c.config ->> 'queue.lease_reaper.cadence_seconds')::integer
                               + (c.config ->> 'queue.lease_reaper.grace_seconds')::integer)
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    select 'dead_letters_open', n.rows,
           (c.config ->> 'queue.health.dead_letters_open_max')::numeric,
           n.rows >= cap.rows
      from c
     cross join cap
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_dead_letter d
                       where d.resolved_at is null
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    -- Triage `closed` silences the age of a dead letter, not its being open.
    select 'dead_letter_oldest_seconds', extract(epoch from c.at - (
             select min(d.first_failed_at)
               from public.job_dead_letter d
              where d.resolved_at is null
                and d.triage_status <> 'closed'
           ))::numeric,
           (c.config ->> 'queue.health.dead_letter_age_seconds')::numeric, false
      from c
    union all
    select 'reaper_last_run_seconds', extract(epoch from c.at - greatest(
             (select max(r.installed_at) from dot_queue.release r),
             (
               select w.started_at
                 from public.job_sweep w
                where w.command = 'fn_job_lease_reaper'
                order by w.started_at desc
                limit 1
             )))::numeric,
           least((c.config ->> 'queue.lease.ttl_seconds.default')::numeric, (
             select min(v.value::numeric)
               from dot_queue.config_value v
              where v.catalogue_key = 'queue.lease.ttl_seconds.default'
                and v.problem is null
           )) / 2, false
      from c
    union all
    select 'oldest_xmin_age', (
             select max(age(a.backend_xmin))
               from pg_catalog.pg_stat_activity a
           )::numeric,
           (c.config ->> 'queue.health.xmin_age_max')::numeric, false
      from c
    union all
    select 'dead_tuple_percent_' || t.relname,
           round(100.0 * t.n_dead_tup / greatest(t.n_live_tup + t.n_dead_tup, 1), 1),
           case when t.n_live_tup + t.n_dead_tup >= 1000 then
             (c.config ->> 'queue.health.dead_tuple_percent_max')::numeric
           end,
           false
      from c
      join pg_catalog.pg_stat_all_tables t on t.relid in (
             'public.job_queue'::regclass, 'public.job_dead_letter'::regclass)
    union all
    select 'config_problems', (select count(*) from dot_queue.config_problem p)::numeric, 0, false
  )
  select s.signal,
         s.value,
         s.bound,
         case
           when s.value > s.bound then 'alarm'
           when s.capped then 'at_least'
           when s.bound is null then 'none'
           when s.value is null and s.signal = 'reaper_last_run_seconds' then 'alarm'
           else 'ok'
         end as level
    from signal s;

-- grants.sql
-- The whole privilege model (§11.5, DP3 §6) on one screen. PUBLIC has nothing, no role has DML on
-- any table; public functions run as dot_queue_owner, which owns everything and can do nothing
-- else.

-- The owner must be able to create for the moment of the hand-over, and only then.
grant usage, create on schema public to dot_queue_owner;

do $$
declare
  v_object record;
begin
  alter schema dot_queue owner to dot_queue_owner;
  for v_object in
    select format('%s %s.%I', case c.relkind when 'v' then 'view' else 'table' end,
                  c.relnamespace::regnamespace, c.relname) as name,
           c.relnamespace = 'public'::regnamespace as public,
           c.relkind = 'v' as is_view
      from pg_catalog.pg_class c
     where (c.relnamespace = 'dot_queue'::regnamespace and c.relkind in ('r', 'v'))
        or (c.relnamespace = 'public'::regnamespace and c.relname in
             ('job_queue', 'job_dead_letter', 'job_executor', 'job_sweep', 'v_dead_letter_all',
              'v_job_dead_letter', 'v_job_retry_pressure', 'v_lease_active', 'v_queue_config',
              'v_job_silent_gap', 'v_queue_health'))
     order by 1
  loop
    execute format('alter %s owner to dot_queue_owner', v_object.name);
    execute format('revoke all on %s from public',
                   regexp_replace(v_object.name, '^(view|table) ', ''));
  end loop;
  for v_object in
    select p.oid::regprocedure as name
      from pg_catalog.pg_proc p
     where p.pronamespace = 'dot_queue'::regnamespace
        or (p.pronamespace = 'public'::regnamespace
            and (p.proname like 'fn\_job\_%' or p.proname = 'fn_dead_letter_health'))
     order by 1
  loop
    execute format('alter function %s owner to dot_queue_owner', v_object.name);
    execute format('revoke all on function %s from public', v_object.name);
  end loop;
end
$$;

revoke create on schema public from dot_queue_owner;
revoke all on schema dot_queue from public;

-- The host's tables keep their owner; ours may use them.
grant select, insert, update, delete on public.dot_config, public.dot_iu_runtime_lease
to dot_queue_owner;
grant select, insert on public.event_pending, public.dot_iu_command_run to dot_queue_owner;
grant select on public.iu_route_dead_letter to dot_queue_owner;

grant execute on function
  public.fn_job_claim(text[], text, text, integer),
  public.fn_job_claim_batch(text[], text, text, integer, integer),
  public.fn_job_lease_renew(uuid, uuid, integer),
  public.fn_job_progress(uuid, uuid, text),
  public.fn_job_succeed(uuid, uuid, text),
  public.fn_job_fail_transient(uuid, uuid, text, text, text),
  public.fn_job_fail_permanent(uuid, uuid, text, text, text, text)
to dot_executor;

grant execute on function
  public.fn_job_enqueue(text, text, text, text, jsonb, integer, timestamptz, text),
  public.fn_job_enqueue_batch(jsonb, text),
  public.fn_job_get(uuid)
to dot_producer;

grant execute on function
  public.fn_job_lease_reaper(integer),
  public.fn_job_promote_due(integer),
  public.fn_job_dead_letter_triage_update(uuid, text, text, text),
  public.fn_job_dead_letter_requeue_dry_run(uuid),
  public.fn_job_seed(),
  public.fn_job_config_get(text),
  public.fn_job_config_set(text, text, text),
  public.fn_job_executor_set(text, text, boolean, text)
to workflow_admin;

grant execute on function
  public.fn_dead_letter_health(),
  public.fn_job_config_get(text)
to dot_auditor;

-- The views ask this one helper; it knows nothing but its arguments, and the schema stays closed.
grant execute on function
  dot_queue.config_value_problem(text, bigint, bigint, text[], text)
to dot_auditor;

grant select on
  public.v_dead_letter_all,
  public.v_job_dead_letter,
  public.v_job_retry_pressure,
  public.v_lease_active,
  public.v_queue_config,
  public.v_job_silent_gap,
  public.v_queue_health,
  public.job_executor,
  public.job_sweep
to dot_auditor;

-- By column: never a payload, never a token.
grant select (job_id, job_kind, event_domain, executor, idempotency_key, priority, status,
              claimable, process_after, enqueued_at, attempts, lease_name, lease_holder, leased_at,
              leased_until, ended_by, first_failed_at, last_error, last_error_at, finished_at)
  on public.job_queue to dot_auditor;
grant select (dead_letter_id, job_id, job_kind, event_domain, executor, idempotency_key,
              failure_code, failure_detail, attempts, first_failed_at, last_failed_at, resolved_at,
              resolution, resolution_note, triage_status, triage_note, triaged_at, triaged_by)
  on public.job_dead_letter to dot_auditor;
grant select on public.dot_iu_command_run to dot_auditor;

-- extension/mark_for_dump.sql
-- A dump of the database holds these rows; everything else comes back with the extension itself.
-- The catalogue of configuration keys is not among them: it belongs to the release.
select pg_catalog.pg_extension_config_dump('public.dot_config', '');
select pg_catalog.pg_extension_config_dump('public.dot_iu_runtime_lease', '');
select pg_catalog.pg_extension_config_dump('public.iu_route_dead_letter', '');
select pg_catalog.pg_extension_config_dump('public.event_pending', '');
select pg_catalog.pg_extension_config_dump('public.dot_iu_command_run', '');
select pg_catalog.pg_extension_config_dump('public.dot_iu_command_run_run_seq_seq', '');
select pg_catalog.pg_extension_config_dump('public.job_queue', '');
select pg_catalog.pg_extension_config_dump('public.job_dead_letter', '');
select pg_catalog.pg_extension_config_dump('public.job_executor', '');
select pg_catalog.pg_extension_config_dump('public.job_sweep', '');
select pg_catalog.pg_extension_config_dump('public.job_sweep_sweep_id_seq', '');
select pg_catalog.pg_extension_config_dump('dot_queue.release', '');
