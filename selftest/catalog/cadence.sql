-- The reaper's cadence is below half of every configured lease length, so that a crash is found within
-- the time of one lease (§8.3, DP3 §10).
with expected(key, value) as (
  select k.key, c.value
    from unnest(array['queue.lease_reaper.cadence_seconds', 'queue.lease.ttl_seconds.default']) k(key)
    left join public.dot_config c on c.key = k.key
  union
  select c.key, c.value
    from public.dot_config c
   where c.key like 'queue.lease.ttl\_seconds.%'
),
number as (
  select e.key,
         e.value,
         case when e.value ~ '^[0-9]{1,10}$' then e.value::bigint end as seconds
    from expected e
)
select n.key,
       coalesce(n.value, 'missing') as value,
       c.seconds as cadence_seconds
  from number n
 cross join (
         select max(x.seconds) as seconds
           from number x
          where x.key = 'queue.lease_reaper.cadence_seconds'
       ) c
 where n.seconds is null
    or c.seconds is null
    or (n.key like 'queue.lease.ttl\_seconds.%' and c.seconds * 2 >= n.seconds)
 order by 1;
