-- What is ours belongs to dot_queue_owner, and the schema of the helpers is open to it alone
-- (§11.5, contract §7).
with expected(relation) as (
  select unnest(array[
    'job_queue', 'job_dead_letter', 'job_executor', 'job_sweep', 'v_dead_letter_all',
    'v_job_dead_letter', 'v_job_retry_pressure', 'v_lease_active', 'v_queue_health',
    'v_job_silent_gap', 'v_queue_config', 'dot_queue'
  ])
),
object as (
  select c.relname::text as name, c.relowner as owner, null::aclitem[] as acl
    from pg_catalog.pg_class c
   where c.relnamespace = to_regnamespace('public')
  union all
  select n.nspname, n.nspowner, n.nspacl
    from pg_catalog.pg_namespace n
   where n.nspname = 'dot_queue'
)
select e.relation as object,
       coalesce(o.owner::regrole::text, 'missing') as owner,
       g.open_to
  from expected e
  left join object o on o.name = e.relation
  left join lateral (
         select string_agg(case a.grantee when 0 then 'public' else a.grantee::regrole::text end, ', ')
                  as open_to
           from aclexplode(o.acl) a
          where a.grantee <> o.owner
       ) g on true
 where o.owner::regrole::text is distinct from 'dot_queue_owner'
    or g.open_to is not null
 order by 1;
