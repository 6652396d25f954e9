-- No role of ours, and not PUBLIC, may write any table or view of the queue or of the host; only the
-- owner of the functions may. Payload, tokens and the snapshot of a dead letter are read by nobody
-- (§11.5, contract §7).
with expected(relation, role) as (
  select r.relation, o.role
    from unnest(array[
           'job_queue', 'job_dead_letter', 'job_executor', 'job_sweep', 'dot_config',
           'dot_iu_runtime_lease', 'iu_route_dead_letter', 'event_pending', 'dot_iu_command_run',
           'v_dead_letter_all', 'v_job_dead_letter', 'v_job_retry_pressure', 'v_lease_active',
           'v_queue_health', 'v_job_silent_gap', 'v_queue_config'
         ]) r(relation)
   cross join unnest(array['dot_executor', 'dot_producer', 'workflow_admin', 'dot_auditor', 'public'])
           o(role)
),
-- What a role was granted itself, on the relation or on a column of it.
granted as (
  select c.oid, a.grantee, a.privilege_type, null::name as column
    from pg_catalog.pg_class c
   cross join aclexplode(c.relacl) a
  union all
  select t.attrelid, a.grantee, a.privilege_type, t.attname
    from pg_catalog.pg_attribute t
   cross join aclexplode(t.attacl) a
)
select e.relation,
       e.role,
       case when c.oid is null or (r.oid is null and e.role <> 'public') then 'is missing'
            else g.privilege_type end as finding,
       g.column
  from expected e
  left join pg_catalog.pg_class c on c.relname = e.relation
   and c.relnamespace = to_regnamespace('public')
  left join pg_catalog.pg_roles r on r.rolname = e.role
  left join granted g on g.oid = c.oid
   and g.grantee = coalesce(r.oid, 0)
   and (
     g.privilege_type <> 'SELECT'
     or e.role <> 'dot_auditor'
     -- A whole-table SELECT on the two tables that hold payloads shows them.
     or (g.column is null and e.relation in ('job_queue', 'job_dead_letter'))
     or g.column in ('payload', 'lease_token', 'ended_token', 'job_snapshot')
   )
 where c.oid is null
    or (r.oid is null and e.role <> 'public')
    or g.oid is not null
 order by 1, 2, 3;
