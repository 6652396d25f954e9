-- Every function of the contract is there once, with exactly its arguments, defaults, result and
-- volatility. An overload that an upgrade left behind is a row (contract §4).
with expected(name, arguments, result, volatility) as (
  values
    ('fn_job_enqueue',
     'p_job_kind text, p_event_domain text, p_executor text, p_idempotency_key text, p_payload jsonb, '
       || 'p_priority integer DEFAULT, p_process_after timestamp with time zone DEFAULT, '
       || 'p_actor text DEFAULT',
     'jsonb', 'v'),
    ('fn_job_enqueue_batch', 'p_jobs jsonb, p_actor text DEFAULT', 'jsonb', 'v'),
    ('fn_job_claim',
     'p_kinds text[], p_lease_name text, p_lease_holder text, p_lease_ttl_seconds integer DEFAULT',
     'TABLE(job_id uuid, lease_token uuid, leased_until timestamp with time zone, job_kind text, '
       || 'event_domain text, executor text, payload jsonb, priority integer, attempts integer, '
       || 'max_attempts integer, enqueued_at timestamp with time zone)', 'v'),
    ('fn_job_claim_batch',
     'p_kinds text[], p_lease_name text, p_lease_holder text, p_lease_ttl_seconds integer DEFAULT, '
       || 'p_limit integer DEFAULT',
     'TABLE(job_id uuid, lease_token uuid, leased_until timestamp with time zone, job_kind text, '
       || 'event_domain text, executor text, payload jsonb, priority integer, attempts integer, '
       || 'max_attempts integer, enqueued_at timestamp with time zone)', 'v'),
    ('fn_job_lease_renew',
     'p_job_id uuid, p_lease_token uuid, p_lease_ttl_seconds integer DEFAULT', 'jsonb', 'v'),
    ('fn_job_progress', 'p_job_id uuid, p_lease_token uuid, p_actor text DEFAULT', 'jsonb', 'v'),
    ('fn_job_succeed', 'p_job_id uuid, p_lease_token uuid, p_actor text DEFAULT', 'jsonb', 'v'),
    ('fn_job_fail_transient',
     'p_job_id uuid, p_lease_token uuid, p_error_code text, p_error_message text, '
       || 'p_actor text DEFAULT',
     'jsonb', 'v'),
    ('fn_job_fail_permanent',
     'p_job_id uuid, p_lease_token uuid, p_error_code text, p_error_message text, '
       || 'p_actor text DEFAULT, p_acknowledged_by text DEFAULT',
     'jsonb', 'v'),
    ('fn_job_move_to_dead_letter', 'p_job_id uuid, p_failure_code text, p_failure_detail text',
     'jsonb', 'v'),
    ('fn_job_lease_reaper', 'p_limit integer DEFAULT', 'jsonb', 'v'),
    ('fn_job_promote_due', 'p_limit integer DEFAULT', 'jsonb', 'v'),
    ('fn_job_dead_letter_triage_update',
     'p_dead_letter_id uuid, p_triage_status text, p_actor text, p_triage_note text DEFAULT',
     'jsonb', 'v'),
    ('fn_job_dead_letter_requeue_dry_run', 'p_dead_letter_id uuid', 'jsonb', 's'),
    ('fn_job_get', 'p_job_id uuid', 'jsonb', 's'),
    ('fn_dead_letter_health', '', 'jsonb', 's'),
    ('fn_job_seed', '', 'jsonb', 'v'),
    ('fn_job_config_get', 'p_key text', 'jsonb', 's'),
    ('fn_job_config_set', 'p_key text, p_value text, p_actor text DEFAULT', 'jsonb', 'v'),
    ('fn_job_executor_set',
     'p_executor text, p_job_kind text, p_enabled boolean, p_actor text DEFAULT', 'jsonb', 'v')
),
-- The value of a default is the function's own affair: NULL means the same (contract §4).
actual as (
  select p.proname::text as name,
         regexp_replace(pg_get_function_arguments(p.oid), ' DEFAULT [^,]+', ' DEFAULT', 'g') as arguments,
         pg_get_function_result(p.oid) as result,
         p.provolatile::text as volatility
    from pg_catalog.pg_proc p
   where p.pronamespace = 'public'::regnamespace
     and (p.proname like 'fn\_job\_%' or p.proname = 'fn_dead_letter_health')
)
select coalesce(e.name, a.name) as function,
       case
         when a.name is null then 'is missing'
         when e.name is null then 'is not of the contract'
         when a.overloads > 1 then 'has overloads'
         when a.arguments is distinct from e.arguments then 'has other arguments'
         when a.result is distinct from e.result then 'has another result'
         else 'has another volatility'
       end as finding,
       a.arguments,
       a.result,
       a.volatility
  from expected e
  full join (select x.*, count(*) over (partition by x.name) as overloads from actual x) a
    on a.name = e.name
 where (a.name, a.arguments, a.result, a.volatility, a.overloads)
       is distinct from (e.name, e.arguments, e.result, e.volatility, 1)
 order by 1, 3;
