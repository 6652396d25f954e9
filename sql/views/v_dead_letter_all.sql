-- Dead letters of both layers (DP3 §3.5), to the letter.
create view public.v_dead_letter_all as
  select 'event'::text as layer, e.event_ref as key, e.event_domain, e.event_type, e.route_code,
         e.failure_code, e.attempts, e.first_failed_at, e.last_failed_at,
         e.resolved_at, e.resolution
    from dot_queue.host_event_dead_letter e
  union all
  select 'job'::text as layer, d.job_id::text as key, d.event_domain, d.job_kind, d.executor,
         d.failure_code, d.attempts, d.first_failed_at, d.last_failed_at,
         d.resolved_at, d.resolution
    from public.job_dead_letter d;
