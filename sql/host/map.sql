-- The only place that names host columns: everything else of the queue goes through these views, so
-- that a host with other names remaps here. All are simple views, so PostgreSQL writes through
-- them.
create view dot_queue.host_config as
  select c.key, c.value, c.description, c.updated_at, c.updated_by
    from public.dot_config c;

create view dot_queue.host_lease as
  select l.lease_name, l.lease_holder, l.lease_token, l.acquired_at, l.expires_at, l.renewed_at
    from public.dot_iu_runtime_lease l;

create view dot_queue.host_event as
  select e.event_id, e.event_domain, e.event_type, e.severity, e.payload, e.occurred_at
    from public.event_pending e;

create view dot_queue.host_run as
  select r.run_seq, r.command, r.actor, r.session_role, r.job_id, r.dead_letter_id, r.status_from,
         r.status_to, r.attempt, r.refused, r.reason, r.detail, r.run_at
    from public.dot_iu_command_run r;

create view dot_queue.host_event_dead_letter as
  select d.event_ref::text as event_ref, d.event_domain, d.event_type, d.route_code, d.failure_code,
         d.attempts, d.first_failed_at, d.last_failed_at, d.resolved_at, d.resolution
    from public.iu_route_dead_letter d;
