-- The health of the queue, one signal a row (DP3 §8, Điều 45 §15.5). Counts stop at
-- queue.health.count_cap; level then says `at_least`, unless the bound is passed already. Levels:
-- ok, alarm, at_least, none (a signal without a bound). Never reads v_job_retry_pressure, a full
-- scan.
create view public.v_queue_health as
  with c as (
    select jsonb_object_agg(f.key, f.value) as config,
           clock_timestamp() as at
      from dot_queue.config_in_force f
  ),
  cap as (
    select (c.config ->> 'queue.health.count_cap')::integer as rows
      from c
  ),
  signal(signal, value, bound, capped) as (
    select 'depth_' || s.status, n.rows::numeric, null::numeric, n.rows >= cap.rows
      from cap
     cross join unnest(array['leased', 'in_progress', 'retry_waiting', 'dead_letter', 'succeeded',
                             'cleaned']) s(status)
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_queue q
                       where q.status = s.status
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    select 'depth_queued_ready', n.rows, (c.config ->> 'queue.health.ready_max')::numeric,
           n.rows >= cap.rows
      from c
     cross join cap
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_queue q
                       where q.status = 'queued'
                         and q.claimable
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    select 'depth_queued_waiting', n.rows, null, n.rows >= cap.rows
      from cap
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_queue q
                       where q.status = 'queued'
                         and not q.claimable
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    select 'retries_due', n.rows, (c.config ->> 'queue.health.retries_due_max')::numeric,
           n.rows >= cap.rows
      from c
     cross join cap
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_queue q
                       where not q.claimable
                         and q.status = 'retry_waiting'
                         and q.process_after <= c.at
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    -- Ready since it could first be claimed: a job that was told to wait has not been waiting.
    select 'oldest_ready_seconds', extract(epoch from c.at - (
             select min(greatest(q.enqueued_at, q.process_after))
               from public.job_queue q
              where q.status = 'queued'
                and q.claimable
           ))::numeric,
           (c.config ->> 'queue.health.oldest_ready_seconds')::numeric, false
      from c
    union all
    select 'oldest_lease_seconds', extract(epoch from c.at - (
             select min(q.leased_at)
               from public.job_queue q
              where q.status in ('leased', 'in_progress')
           ))::numeric,
           (c.config ->> 'queue.lease.max_hold_seconds')::numeric, false
      from c
    union all
    select 'leases_expired_unreaped', n.rows, 0, n.rows >= cap.rows
      from c
     cross join cap
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_queue q
                       where q.status in ('leased', 'in_progress')
                         and q.leased_until < c.at - make_interval(secs =>
                               (c.config ->> 'queue.lease_reaper.cadence_seconds')::integer
                               + (c.config ->> 'queue.lease_reaper.grace_seconds')::integer)
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    select 'dead_letters_open', n.rows,
           (c.config ->> 'queue.health.dead_letters_open_max')::numeric,
           n.rows >= cap.rows
      from c
     cross join cap
     cross join lateral (
             select count(*) as rows
               from (
                      select 1
                        from public.job_dead_letter d
                       where d.resolved_at is null
                       limit (select cap.rows from cap)
                    ) x
           ) n
    union all
    -- Triage `closed` silences the age of a dead letter, not its being open.
    select 'dead_letter_oldest_seconds', extract(epoch from c.at - (
             select min(d.first_failed_at)
               from public.job_dead_letter d
              where d.resolved_at is null
                and d.triage_status <> 'closed'
           ))::numeric,
           (c.config ->> 'queue.health.dead_letter_age_seconds')::numeric, false
      from c
    union all
    select 'reaper_last_run_seconds', extract(epoch from c.at - greatest(
             (select max(r.installed_at) from dot_queue.release r),
             (
               select w.started_at
                 from public.job_sweep w
                where w.command = 'fn_job_lease_reaper'
                order by w.started_at desc
                limit 1
             )))::numeric,
           least((c.config ->> 'queue.lease.ttl_seconds.default')::numeric, (
             select min(v.value::numeric)
               from dot_queue.config_value v
              where v.catalogue_key = 'queue.lease.ttl_seconds.default'
                and v.problem is null
           )) / 2, false
      from c
    union all
    select 'oldest_xmin_age', (
             select max(age(a.backend_xmin))
               from pg_catalog.pg_stat_activity a
           )::numeric,
           (c.config ->> 'queue.health.xmin_age_max')::numeric, false
      from c
    union all
    select 'dead_tuple_percent_' || t.relname,
           round(100.0 * t.n_dead_tup / greatest(t.n_live_tup + t.n_dead_tup, 1), 1),
           case when t.n_live_tup + t.n_dead_tup >= 1000 then
             (c.config ->> 'queue.health.dead_tuple_percent_max')::numeric
           end,
           false
      from c
      join pg_catalog.pg_stat_all_tables t on t.relid in (
             'public.job_queue'::regclass, 'public.job_dead_letter'::regclass)
    union all
    select 'config_problems', (select count(*) from dot_queue.config_problem p)::numeric, 0, false
  )
  select s.signal,
         s.value,
         s.bound,
         case
           when s.value > s.bound then 'alarm'
           when s.capped then 'at_least'
           when s.bound is null then 'none'
           when s.value is null and s.signal = 'reaper_last_run_seconds' then 'alarm'
           else 'ok'
         end as level
    from signal s;
