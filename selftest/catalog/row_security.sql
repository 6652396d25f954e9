-- No row level security on our tables: a policy that matches nothing hides jobs without an error
-- (§15.5).
with expected(relation) as (
  select unnest(array['job_queue', 'job_dead_letter', 'job_executor', 'job_sweep'])
)
select e.relation,
       case when c.oid is null then 'is missing' end as finding,
       c.relrowsecurity as enabled,
       c.relforcerowsecurity as forced,
       p.policies
  from expected e
  left join pg_catalog.pg_class c on c.oid = to_regclass('public.' || e.relation)
  left join lateral (
         select string_agg(x.polname, ', ') as policies
           from pg_catalog.pg_policy x
          where x.polrelid = c.oid
       ) p on true
 where c.oid is null
    or c.relrowsecurity
    or c.relforcerowsecurity
    or p.policies is not null
 order by 1;
