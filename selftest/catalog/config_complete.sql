-- Every key of the contract is configured, and nothing is wrong with any of them (§15.5, contract §4).
with expected(key) as (
  select unnest(array[
    'queue.job_substrate.enabled', 'queue.retry.max_attempts.default',
    'queue.retry.backoff.strategy', 'queue.retry.backoff.base_seconds',
    'queue.retry.backoff.cap_seconds', 'queue.retry.promoter', 'queue.lease.ttl_seconds.default',
    'queue.lease.min_ttl_seconds', 'queue.lease.max_ttl_seconds', 'queue.lease.max_hold_seconds',
    'queue.lease_reaper.enabled', 'queue.lease_reaper.cadence_seconds',
    'queue.lease_reaper.grace_seconds', 'queue.enqueue.dedupe_seconds',
    'queue.enqueue.max_delay_seconds', 'queue.dlq.replay_enabled',
    'queue.refusal.acknowledgement_required', 'queue.gap.ready_seconds',
    'queue.gap.retry_due_seconds', 'queue.health.count_cap'
  ])
)
select coalesce(e.key, v.key) as key,
       case when c.key is null and e.key is not null then 'is missing' else v.problem end as finding,
       c.value
  from expected e
  full join public.v_queue_config v on v.key = e.key
  left join public.dot_config c on c.key = coalesce(e.key, v.key)
 where (e.key is not null and (c.key is null or v.key is null))
    or v.problem is not null
 order by 1;
