-- The five roles are there, cannot log in, and have no power of their own: no superuser, no
-- createrole, no createdb, no bypass of row security, no replication, and no role of ours is a member
-- of another, so that each has what was granted to it and no more (§11.5, contract §7).
with expected(role) as (
  select unnest(array['dot_queue_owner', 'dot_executor', 'dot_producer', 'workflow_admin', 'dot_auditor'])
)
select e.role,
       case when r.oid is null then 'is missing' end as finding,
       r.rolcanlogin,
       r.rolsuper,
       r.rolcreaterole,
       r.rolcreatedb,
       r.rolbypassrls,
       r.rolreplication,
       m.member_of
  from expected e
  left join pg_catalog.pg_roles r on r.rolname = e.role
  left join lateral (
         select string_agg(a.roleid::regrole::text, ', ') as member_of
           from pg_catalog.pg_auth_members a
          where a.member = r.oid
       ) m on true
 where r.oid is null
    or r.rolcanlogin
    or r.rolsuper
    or r.rolcreaterole
    or r.rolcreatedb
    or r.rolbypassrls
    or r.rolreplication
    or m.member_of is not null
 order by 1;
