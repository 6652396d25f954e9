-- Release 2.0 ships the dry run and no function that can take a dead letter back to the queue: none is
-- named so, and none but the enqueue and the flip of waiting rows writes the state queued (§8.4,
-- contract §1 D4).
with expected(name) as (
  values ('fn_job_dead_letter_requeue_dry_run'), ('fn_job_dead_letter_triage_update')
),
ours as (
  select p.oid, p.proname, p.provolatile, p.prosrc
    from pg_catalog.pg_proc p
   where p.pronamespace = to_regnamespace('dot_queue')
      or (p.pronamespace = to_regnamespace('public')
          and (p.proname like 'fn\_job\_%' or p.proname like '%dead\_letter%'))
)
select e.name as function, 'is missing' as finding
  from expected e
 where not exists (select 1 from ours o where o.proname = e.name)
union all
select o.oid::regprocedure::text, 'is named as if it could requeue'
  from ours o
 where o.proname ~ '(replay|requeue|redrive|revive|resurrect|retry_dead|undead|restore|resolve)'
   and o.proname <> 'fn_job_dead_letter_requeue_dry_run'
union all
select o.oid::regprocedure::text, 'previews, and yet may write'
  from ours o
 where o.proname ~ 'dry_run'
   and o.provolatile = 'v'
union all
-- Whatever writes a job's state to queued must not look at dead letters.
select o.oid::regprocedure::text, 'writes the state queued and names dead letters'
  from ours o
 where o.prosrc ~* 'update\s+(only\s+)?(public\.)?job_queue'
   and o.prosrc ~* 'set\s+status\s*=\s*''queued'''
   and o.prosrc ~* 'dead_letter'
 order by 1;
