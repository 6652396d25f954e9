-- Every public function of ours runs as dot_queue_owner with search_path pg_catalog, pg_temp, and
-- neither PUBLIC nor a role that is not ours may call it. The list is the contract's, so that a
-- function that is not there is a row (§11.5, contract §7).
with expected(name) as (
  select unnest(array[
    'fn_job_enqueue', 'fn_job_enqueue_batch', 'fn_job_claim', 'fn_job_claim_batch',
    'fn_job_lease_renew', 'fn_job_progress', 'fn_job_succeed', 'fn_job_fail_transient',
    'fn_job_fail_permanent', 'fn_job_move_to_dead_letter', 'fn_job_lease_reaper',
    'fn_job_promote_due', 'fn_job_dead_letter_triage_update', 'fn_job_dead_letter_requeue_dry_run',
    'fn_job_get', 'fn_dead_letter_health', 'fn_job_seed', 'fn_job_config_get', 'fn_job_config_set',
    'fn_job_executor_set'
  ])
),
-- The contract's functions and whatever else of the queue may be called, helpers included.
surface as (
  select e.name, p.oid
    from expected e
    left join pg_catalog.pg_proc p on p.proname = e.name
     and p.pronamespace = to_regnamespace('public')
  union
  select p.oid::regprocedure::text, p.oid
    from pg_catalog.pg_proc p
   where p.pronamespace = to_regnamespace('dot_queue')
      or (p.pronamespace = to_regnamespace('public') and p.proname like 'fn\_job\_%')
)
select s.name as function,
       p.prosecdef as security_definer,
       p.proowner::regrole as owner,
       p.proconfig as settings,
       p.proacl as grants,
       coalesce(l.lanname, 'missing') as language
  from surface s
  left join pg_catalog.pg_proc p on p.oid = s.oid
  left join pg_catalog.pg_language l on l.oid = p.prolang
 where p.oid is null
    or p.proowner::regrole::text is distinct from 'dot_queue_owner'
    or p.proconfig is distinct from array['search_path=pg_catalog, pg_temp']
    or (not p.prosecdef and p.pronamespace = to_regnamespace('public'))
    or l.lanname not in ('sql', 'plpgsql')
    -- No ACL at all is the default, which opens a function to PUBLIC.
    or p.proacl is null
    or exists (
         select 1
           from aclexplode(p.proacl) a
          where a.grantee = 0
             or a.is_grantable
             or a.grantee::regrole::text not in
                ('dot_queue_owner', 'dot_executor', 'dot_producer', 'workflow_admin', 'dot_auditor')
       )
 order by 1;
