-- Everything that is wrong with the configuration: missing keys, values that the catalogue refuses,
-- and values that do not fit each other (DP3 §10: the reaper's cadence is below half of every
-- lease).
create view dot_queue.config_problem as
  with integers as (
    select v.key, v.catalogue_key, v.value::bigint as number
      from dot_queue.config_value v
      join dot_queue.config_catalogue k on k.key = v.catalogue_key
       and k.value_type = 'integer'
     where v.problem is null
  ),
  bound as (
    select k.key, coalesce(i.number, k.default_value::bigint) as number
      from dot_queue.config_catalogue k
      left join integers i on i.key = k.key
     where k.key in ('queue.lease_reaper.cadence_seconds', 'queue.lease.min_ttl_seconds',
                     'queue.lease.max_ttl_seconds', 'queue.lease.max_hold_seconds',
                     'queue.lease.ttl_seconds.default')
  ),
  ttl as (
    select i.key, i.number
      from integers i
     where i.catalogue_key = 'queue.lease.ttl_seconds.default'
    union
    select b.key, b.number
      from bound b
     where b.key = 'queue.lease.ttl_seconds.default'
  ),
  rule(key, problem) as (
    select b.key,
           format('must be below half of every lease length; %s is %s', t.key, t.number)
      from bound b
      join ttl t on b.number * 2 >= t.number
     where b.key = 'queue.lease_reaper.cadence_seconds'
    union all
    select t.key, format('must be above twice the reaper cadence of %s seconds', b.number)
      from ttl t
      join bound b on b.key = 'queue.lease_reaper.cadence_seconds'
       and b.number * 2 >= t.number
    union all
    select x.key, format('must not be above %s, which is %s', b.key, b.number)
      from (select t.key, t.number from ttl t
            union all
            select c.key, c.number from bound c where c.key = 'queue.lease.min_ttl_seconds') x
      join bound b on b.key = 'queue.lease.max_ttl_seconds'
       and x.number > b.number
    union all
    select t.key, format('must not be below %s, which is %s', b.key, b.number)
      from ttl t
      join bound b on b.key = 'queue.lease.min_ttl_seconds'
       and t.number < b.number
    union all
    select b.key, format('must not be below %s, which is %s', t.key, t.number)
      from bound b
      join ttl t on t.number > b.number
     where b.key = 'queue.lease.max_ttl_seconds'
    union all
    select b.key, format('must not be above %s, which is %s', t.key, t.number)
      from bound b
      join ttl t on t.number < b.number
     where b.key = 'queue.lease.min_ttl_seconds'
    union all
    select x.key,
           format('queue.lease.max_hold_seconds (%s) must not be below '
                  'queue.lease.max_ttl_seconds (%s)', h.number, m.number)
      from bound h
      join bound m on m.key = 'queue.lease.max_ttl_seconds'
       and h.number < m.number
      join bound x on x.key in ('queue.lease.max_hold_seconds', 'queue.lease.max_ttl_seconds')
     where h.key = 'queue.lease.max_hold_seconds'
  )
  select k.key, 'missing' as kind, 'missing: the default applies' as problem
    from dot_queue.config_catalogue k
   where not exists (
           select 1
             from dot_queue.host_config c
            where c.key = k.key
         )
  union all
  select v.key, 'invalid', v.problem
    from dot_queue.config_value v
   where v.problem is not null
  union all
  select r.key, 'invalid', string_agg(r.problem, '; ' order by r.problem)
    from rule r
   group by r.key;
