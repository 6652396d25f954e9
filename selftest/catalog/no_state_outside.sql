-- PostgreSQL is the source of truth: no foreign server or table, no function of ours reaches out of
-- the database or is written in a language that could (DP3 §12 pg_sot).
with expected(object) as (
  select unnest(array[
    'fn_job_enqueue', 'fn_job_claim', 'fn_job_lease_renew', 'fn_job_progress', 'fn_job_succeed',
    'fn_job_fail_transient', 'fn_job_fail_permanent', 'fn_job_lease_reaper', 'fn_job_promote_due',
    'fn_job_dead_letter_triage_update', 'fn_dead_letter_health'
  ])
),
ours as (
  select p.oid, p.proname, p.prosrc, l.lanname
    from pg_catalog.pg_proc p
    join pg_catalog.pg_language l on l.oid = p.prolang
   where p.pronamespace = to_regnamespace('dot_queue')
      or (p.pronamespace = to_regnamespace('public')
          and (p.proname like 'fn\_job\_%' or p.proname = 'fn_dead_letter_health'))
)
select e.object, 'is missing' as finding
  from expected e
 where not exists (select 1 from ours o where o.proname = e.object)
union all
select o.oid::regprocedure::text, 'is written in ' || o.lanname
  from ours o
 where o.lanname not in ('sql', 'plpgsql')
union all
select o.oid::regprocedure::text, 'reaches out: ' || m.word
  from ours o
 cross join lateral (
         select (regexp_match(o.prosrc,
           '\m(dblink\w*|postgres_fdw|pg_read_\w+|pg_ls_\w+|lo_import|lo_export|pg_notify|notify|http_\w+|copy\s+\w+\s+(to|from)\s+program)\M',
           'i'))[1] as word
       ) m
 where m.word is not null
union all
select t.ftrelid::regclass::text, 'is a foreign table'
  from pg_catalog.pg_foreign_table t
  join pg_catalog.pg_class c on c.oid = t.ftrelid
 where c.relnamespace in (to_regnamespace('public'), to_regnamespace('dot_queue'))
union all
select s.srvname, 'is a foreign server'
  from pg_catalog.pg_foreign_server s
union all
-- Unlogged tables are emptied by a crash: that, too, would be state that PostgreSQL does not keep.
select c.oid::regclass::text, 'is not logged'
  from pg_catalog.pg_class c
 where c.relpersistence <> 'p'
   and (c.oid in (to_regclass('public.job_queue'), to_regclass('public.job_dead_letter'),
                  to_regclass('public.job_executor'), to_regclass('public.job_sweep'))
        or (c.relnamespace = to_regnamespace('dot_queue') and c.relkind = 'r'))
 order by 1, 2;
