-- What has gone silent (§15.5): must be empty in a healthy system. For every job that is not over
-- there is a time after which a reason here names it. One branch a reason; bounds come from the
-- configuration.
create view public.v_job_silent_gap as
  with bound as (
    select max(c.value) filter (where c.key = 'queue.job_substrate.enabled') = 'false'
             as substrate_off,
           make_interval(secs =>
             (max(c.value) filter (where c.key = 'queue.lease_reaper.cadence_seconds'))::integer
             + (max(c.value) filter (where c.key = 'queue.lease_reaper.grace_seconds'))::integer)
             as reap_within,
           make_interval(secs => (
             max(c.value) filter (where c.key = 'queue.lease.max_hold_seconds')
           )::integer) as hold_within,
           make_interval(secs => (
             max(c.value) filter (where c.key = 'queue.gap.retry_due_seconds')
           )::integer) as due_within,
           make_interval(secs => (
             max(c.value) filter (where c.key = 'queue.gap.ready_seconds')
           )::integer) as ready_within,
           make_interval(secs => least(
             (max(c.value) filter (where c.key = 'queue.lease.ttl_seconds.default'))::integer,
             (
               select min(v.value::integer)
                 from dot_queue.config_value v
                where v.catalogue_key = 'queue.lease.ttl_seconds.default'
                  and v.problem is null
             )) / 2.0) as sweep_within,
           clock_timestamp() as at
      from dot_queue.config_in_force c
  ),
  gap(reason, job_id, job_kind, status, since, due_at) as (
    select 'lease_expired_unreaped', q.job_id, q.job_kind, q.status, q.leased_until,
           q.leased_until + b.reap_within
      from bound b
      join public.job_queue q on q.status in ('leased', 'in_progress')
       and q.leased_until < b.at - b.reap_within
    union all
    select 'lease_held_too_long', q.job_id, q.job_kind, q.status, q.leased_at,
           q.leased_at + b.hold_within
      from bound b
      join public.job_queue q on q.status in ('leased', 'in_progress')
       and q.leased_until > b.at
       and q.leased_at < b.at - b.hold_within
    union all
    select 'retry_due_unclaimed', q.job_id, q.job_kind, q.status, q.process_after,
           q.process_after + b.due_within
      from bound b
      join public.job_queue q on q.status = 'retry_waiting'
       and not q.claimable
       and q.process_after < b.at - b.due_within
    union all
    select 'due_not_promoted', q.job_id, q.job_kind, q.status, q.process_after,
           q.process_after + b.due_within
      from bound b
      join public.job_queue q on q.status = 'queued'
       and not q.claimable
       and q.process_after < b.at - b.due_within
    union all
    select 'ready_unclaimed', q.job_id, q.job_kind, q.status,
           greatest(q.enqueued_at, q.process_after),
           greatest(q.enqueued_at, q.process_after) + b.ready_within
      from bound b
      join public.job_queue q on q.status = 'queued'
       and q.claimable
       and greatest(q.enqueued_at, q.process_after) < b.at - b.ready_within
    union all
    select 'no_executor', q.job_id, q.job_kind, q.status, q.enqueued_at, q.enqueued_at
      from public.job_queue q
     where q.status in ('queued', 'leased', 'in_progress', 'retry_waiting')
       and not exists (
             select 1
               from public.job_executor e
              where e.executor = q.executor
                and e.job_kind in (q.job_kind, '*')
                and e.enabled
           )
    union all
    select 'dead_without_dead_letter', q.job_id, q.job_kind, q.status, q.finished_at, q.finished_at
      from public.job_queue q
     where q.status = 'dead_letter'
       and not exists (
             select 1
               from public.job_dead_letter d
              where d.job_id = q.job_id
           )
    union all
    select 'mirror_missing', q.job_id, q.job_kind, q.status, q.leased_at, q.leased_at
      from public.job_queue q
     where q.status in ('leased', 'in_progress')
       and not exists (
             select 1
               from dot_queue.host_lease l
              where l.lease_name = 'job:' || q.job_id
           )
    union all
    select 'mirror_orphan', substr(l.lease_name, 5)::uuid, null, null, l.acquired_at, l.acquired_at
      from dot_queue.host_lease l
     where l.lease_name ~ '^job:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
       and not exists (
             select 1
               from public.job_queue q
              where q.status in ('leased', 'in_progress')
                and 'job:' || q.job_id = l.lease_name
           )
    union all
    -- Measured from the later of the install and the last sweep; never installed counts as for
    -- ever.
    select 'reaper_stale', null, null, null, s.last_at, s.last_at + b.sweep_within
      from bound b
     cross join lateral (
             select coalesce(greatest(
                      (select max(r.installed_at) from dot_queue.release r),
                      (
                        select w.started_at
                          from public.job_sweep w
                         where w.command = 'fn_job_lease_reaper'
                         order by w.started_at desc
                         limit 1
                      )), '-infinity') as last_at
           ) s
     where s.last_at < b.at - b.sweep_within
    union all
    select 'config_missing', null, null, p.key, null, null
      from dot_queue.config_problem p
     where p.kind = 'missing'
    union all
    select 'config_invalid', null, null, p.key, null, null
      from dot_queue.config_problem p
     where p.kind = 'invalid'
    union all
    select 'substrate_off_with_backlog', null, null, null, w.oldest_at, w.oldest_at
      from bound b
     cross join lateral (
             select min(q.enqueued_at) as oldest_at
               from public.job_queue q
              where b.substrate_off
                and q.status in ('queued', 'leased', 'in_progress', 'retry_waiting')
           ) w
     where w.oldest_at is not null
    union all
    select 'event_lost', r.job_id, null, r.status_to, r.run_at, r.run_at
      from bound b
      join dot_queue.host_run r on r.detail ? 'event_lost'
       and r.run_at > b.at - interval '86400 seconds'
  )
  select g.reason,
         g.job_id,
         g.job_kind,
         g.status,
         g.since,
         case
           when isfinite(g.due_at) then extract(epoch from clock_timestamp() - g.due_at)::numeric
         end as overdue_seconds
    from gap g;
