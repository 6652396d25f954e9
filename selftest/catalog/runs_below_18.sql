-- Everything is installed, and nothing names what only PostgreSQL 18 has, so it runs on 13 to 17 too
-- (DP3 §12 no_pg_18_dependency).
with expected(object) as (
  select unnest(array[
    'fn_job_enqueue', 'fn_job_enqueue_batch', 'fn_job_claim', 'fn_job_claim_batch',
    'fn_job_lease_renew', 'fn_job_progress', 'fn_job_succeed', 'fn_job_fail_transient',
    'fn_job_fail_permanent', 'fn_job_lease_reaper', 'fn_job_promote_due',
    'fn_job_dead_letter_triage_update', 'fn_job_dead_letter_requeue_dry_run', 'fn_job_get',
    'fn_dead_letter_health', 'v_dead_letter_all', 'v_job_retry_pressure', 'v_lease_active',
    'v_queue_health', 'v_job_silent_gap'
  ])
),
source as (
  select p.proname::text as object, p.prosrc as text
    from pg_catalog.pg_proc p
   where p.pronamespace = to_regnamespace('dot_queue')
      or (p.pronamespace = to_regnamespace('public')
          and (p.proname like 'fn\_job\_%' or p.proname = 'fn_dead_letter_health'))
  union all
  select c.relname, pg_get_viewdef(c.oid)
    from pg_catalog.pg_class c
   where c.relkind = 'v'
     and (c.relnamespace = to_regnamespace('dot_queue')
          or (c.relnamespace = to_regnamespace('public') and c.relname like 'v\_%'))
)
select e.object, 'is missing' as finding
  from expected e
 where not exists (select 1 from source s where s.object = e.object)
union all
select s.object, 'names ' || n.name
  from source s
 cross join unnest(array['uuidv7', 'uuidv4', 'array_sort', 'array_reverse', 'casefold', 'crc32c?',
                         'uuid_extract_version', 'pg_get_acl', 'json_strip_nulls\(.*,',
                         'returning\s+(with\s*\(|old\.|new\.)', 'without\s+overlaps',
                         'not\s+enforced']) n(name)
 where s.text ~* ('\m' || n.name)
union all
-- Generated columns that are not stored, and constraints that are not enforced, came with 18.
select a.attrelid::regclass::text, 'has the virtual column ' || a.attname
  from pg_catalog.pg_attribute a
 where a.attrelid in (to_regclass('public.job_queue'), to_regclass('public.job_dead_letter'),
                      to_regclass('public.job_executor'), to_regclass('public.job_sweep'))
   and a.attgenerated = 'v'
 order by 1, 2;
