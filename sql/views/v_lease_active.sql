-- Leases that are held (DP3 §8), to the letter; an expired one stays in sight until it is reaped.
create view public.v_lease_active as
  select q.lease_name,
         q.lease_holder,
         q.leased_until,
         extract(epoch from (q.leased_until - now())) as ttl_remaining
    from public.job_queue q
   where q.status in ('leased', 'in_progress');
