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
