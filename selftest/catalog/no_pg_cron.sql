-- Nothing of ours is, needs or names pg_cron: the cadence comes from outside, by cron, systemd or
-- whatever calls the reaper (DP3 §12 no_pg_cron_dependency_phase_1, contract §1 D15).
with expected(object) as (
  select unnest(array[
    'fn_job_enqueue', 'fn_job_claim', 'fn_job_lease_renew', 'fn_job_succeed', 'fn_job_fail_transient',
    'fn_job_fail_permanent', 'fn_job_lease_reaper', 'fn_job_promote_due', 'v_queue_health',
    'v_job_silent_gap', 'v_lease_active'
  ])
),
source as (
  select p.proname::text as object, p.prosrc as text
    from pg_catalog.pg_proc p
   where p.pronamespace in (to_regnamespace('public'), to_regnamespace('dot_queue'))
     and not exists (
           select 1
             from pg_catalog.pg_depend d
            where d.objid = p.oid
              and d.deptype = 'e'
              and d.refobjid not in (select x.oid from pg_catalog.pg_extension x where x.extname = 'dieu45')
         )
  union all
  select c.relname, pg_get_viewdef(c.oid)
    from pg_catalog.pg_class c
   where c.relkind = 'v'
     and c.relnamespace in (to_regnamespace('public'), to_regnamespace('dot_queue'))
)
select e.object, 'is missing' as finding
  from expected e
 where not exists (select 1 from source s where s.object = e.object)
union all
select s.object, 'names pg_cron'
  from source s
 where s.text ~* '\m(pg_cron|cron\.(schedule|job|unschedule|alter_job))'
union all
select 'extension dieu45', 'requires pg_cron'
  from pg_catalog.pg_extension x
  join pg_catalog.pg_depend d on d.classid = 'pg_extension'::regclass
   and d.objid = x.oid
   and d.refclassid = 'pg_extension'::regclass
  join pg_catalog.pg_extension y on y.oid = d.refobjid
   and y.extname = 'pg_cron'
 where x.extname = 'dieu45'
 order by 1, 2;
