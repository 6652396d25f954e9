-- The views and the health function are there with the documented columns, in order and type (DP3
-- §3.5, §8, contract §6). In PostgreSQL 13 extract() still gives double precision.
with expected(object, columns) as (
  values
    ('public.v_dead_letter_all',
     'layer text, key text, event_domain text, event_type text, route_code text, failure_code text, '
       || 'attempts integer, first_failed_at timestamp with time zone, '
       || 'last_failed_at timestamp with time zone, resolved_at timestamp with time zone, '
       || 'resolution text'),
    ('public.v_job_retry_pressure',
     'job_kind text, waiting bigint, dead bigint, max_attempts_seen integer'),
    ('public.v_lease_active',
     'lease_name text, lease_holder text, leased_until timestamp with time zone, ttl_remaining '
       || case when current_setting('server_version_num')::integer < 140000 then 'double precision'
               else 'numeric' end),
    ('public.v_job_silent_gap',
     'reason text, job_id uuid, job_kind text, status text, since timestamp with time zone, '
       || 'overdue_seconds numeric'),
    ('public.v_queue_health', 'signal text, value numeric, bound numeric, level text'),
    ('public.v_job_dead_letter', null),
    ('public.v_queue_config', null),
    ('public.fn_dead_letter_health()', 'jsonb')
),
actual as (
  select format('%s.%s', c.relnamespace::regnamespace, c.relname) as object,
         string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' order by a.attnum)
           as columns
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid
     and a.attnum > 0
     and not a.attisdropped
   where c.relkind = 'v'
   group by c.oid, c.relnamespace, c.relname
  union all
  select format('%s.%s()', p.pronamespace::regnamespace, p.proname), format_type(p.prorettype, null)
    from pg_catalog.pg_proc p
   where p.pronargs = 0
)
select e.object, e.columns as expected, coalesce(a.columns, 'missing') as seen
  from expected e
  left join actual a on a.object = e.object
 where a.object is null
    or a.columns is distinct from coalesce(e.columns, a.columns)
 order by 1;
