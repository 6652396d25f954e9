-- The gap view names nothing once the reaper has run. The list is of the reasons that it can name, and
-- the view must know each of them (§15.5, contract §6).
\ir lib/busy_hour.sql
with expected(reason) as (
  select unnest(array[
    'lease_expired_unreaped', 'lease_held_too_long', 'retry_due_unclaimed', 'ready_unclaimed',
    'due_not_promoted', 'no_executor', 'dead_without_dead_letter', 'mirror_missing', 'mirror_orphan',
    'reaper_stale', 'config_missing', 'config_invalid', 'substrate_off_with_backlog', 'event_lost'
  ])
)
select coalesce(e.reason, g.reason) as reason,
       g.job_id,
       g.job_kind,
       g.status,
       g.since,
       g.overdue_seconds,
       case when g.reason is null then 'the view does not know this reason' end as finding
  from expected e
  full join public.v_job_silent_gap g on g.reason = e.reason
 where g.reason is not null
    or position(quote_literal(e.reason) in pg_get_viewdef('public.v_job_silent_gap'::regclass)) = 0
 order by 1, 2;
