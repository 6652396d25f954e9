-- No column and no argument of ours is a time without its zone: a round trip through another TimeZone
-- setting would move it (Điều 35).
with expected(relation) as (
  select unnest(array[
    'public.job_queue', 'public.job_dead_letter', 'public.job_executor', 'public.job_sweep',
    'public.v_dead_letter_all', 'public.v_job_dead_letter', 'public.v_lease_active',
    'public.v_job_silent_gap', 'public.dot_iu_command_run'
  ])
),
object as (
  select e.relation, to_regclass(e.relation) as oid
    from expected e
  union
  select c.oid::regclass::text, c.oid::regclass
    from pg_catalog.pg_class c
   where c.relnamespace = to_regnamespace('dot_queue')
     and c.relkind in ('r', 'p', 'v', 'm')
)
select o.relation as object, coalesce(a.attname, 'missing') as finding
  from object o
  left join pg_catalog.pg_attribute a on a.attrelid = o.oid
   and a.attnum > 0
   and not a.attisdropped
   and a.atttypid in ('timestamp'::regtype, 'time'::regtype, 'date'::regtype, 'timetz'::regtype)
 where o.oid is null
    or a.attname is not null
union all
select p.oid::regprocedure::text, format_type(t.type, null)
  from pg_catalog.pg_proc p
 cross join unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]) || p.prorettype) t(type)
 where (p.pronamespace = to_regnamespace('dot_queue')
        or (p.pronamespace = to_regnamespace('public') and p.proname like 'fn\_job\_%'))
   and t.type in ('timestamp'::regtype, 'time'::regtype, 'date'::regtype, 'timetz'::regtype)
 order by 1, 2;
