-- Observability (DP3 §8): the documented views and function to the letter, and every figure of
-- v_queue_health on rows that are known.
begin;
\ir lib/session.sql
select plan(53);

create function pg_temp.signal(p_signal text)
returns text
language sql
as $$
  select format('%s/%s', round(h.value)::text, h.level) from public.v_queue_health h where h.signal = p_signal
$$;
create function pg_temp.columns(p_relation regclass)
returns text
language sql
as $$
  select string_agg(a.attname || ' ' || format_type(a.atttypid, null), ', ' order by a.attnum)
    from pg_attribute a
   where a.attrelid = p_relation
     and a.attnum > 0
     and not a.attisdropped
$$;

-- To the letter of DP3 §8 -----------------------------------------------------------------------------

select is(
    pg_temp.columns('public.v_job_retry_pressure'),
    'job_kind text, waiting bigint, dead bigint, max_attempts_seen integer',
    'dp3.8: v_job_retry_pressure has the documented columns');
select is(
    pg_temp.columns('public.v_lease_active'),
    'lease_name text, lease_holder text, leased_until timestamp with time zone, ttl_remaining numeric',
    'dp3.8: v_lease_active has the documented columns')
 where current_setting('server_version_num')::int >= 140000
union all
select is(
    pg_temp.columns('public.v_lease_active'),
    'lease_name text, lease_holder text, leased_until timestamp with time zone, ttl_remaining double precision',
    'dp3.8: v_lease_active has the documented columns')
 where current_setting('server_version_num')::int < 140000;
select is(
    pg_temp.columns('public.v_queue_health'),
    'signal text, value numeric, bound numeric, level text',
    'dp3.8: v_queue_health has the documented columns');

-- An empty system.
select pg_temp.answer('select public.fn_job_lease_reaper()');
select is(
    pg_temp.answer('select public.fn_dead_letter_health()'),
    '{"open_count_event": 0, "open_count_job": 0, "oldest_first_failed_at": null, "by_failure_code": {}}',
    'dp3.8: fn_dead_letter_health without a dead letter');
-- Dead rows and old snapshots are the server's, whatever this suite does.
select is(
    (select string_agg(h.signal, ' ' order by h.signal)
       from public.v_queue_health h
      where h.level not in ('ok', 'none')
        and h.signal not like all (array['dead\_tuple%', 'oldest\_xmin%'])),
    null,
    'dp3.8: nothing alarms in an empty system');
select is(
    (select count(*)::int from public.v_lease_active),
    0,
    'dp3.8: no lease is active in an empty system');

-- A truth table ------------------------------------------------------------------------------------------

-- queued: 3 ready, 2 that wait; leased 2 (one expired long ago), in progress 1; waiting 3 (2 due);
-- succeeded 4; dead 2; cleaned 1.
select pg_temp.enqueue('ready_' || n, 'health') from generate_series(1, 3) n;
select pg_temp.enqueue('later_' || n, 'health_later', 0, clock_timestamp() + interval '1 hour')
  from generate_series(1, 2) n;
select pg_temp.hold('leased_' || n) from generate_series(1, 2) n;
select pg_temp.hold('progress_1');
select pg_temp.call('fn_job_progress', 'progress_1');
select pg_temp.hold('waiting_' || n) from generate_series(1, 3) n;
select pg_temp.fail('waiting_' || n) from generate_series(1, 3) n;
select pg_temp.hold('done_' || n) from generate_series(1, 5) n;
select pg_temp.call('fn_job_succeed', 'done_' || n) from generate_series(1, 5) n;
select pg_temp.set('done_5', $$status = 'cleaned', payload = '{}'$$);
select pg_temp.hold('dead_' || n) from generate_series(1, 2) n;
select pg_temp.call('fn_job_fail_permanent', 'dead_' || n, format('''CODE_%s'', ''m''', n))
  from generate_series(1, 2) n;
select pg_temp.age('ready_1', 500);
-- Enqueued long ago for a time that has just come: ready for a moment only.
select pg_temp.set('ready_2', $$enqueued_at = enqueued_at - interval '90 days'$$);
select pg_temp.age('leased_1', 1000);
select pg_temp.age('progress_1', 200);
select pg_temp.make_due('waiting_1');
select pg_temp.make_due('waiting_2');
select pg_temp.set('later_1', $$enqueued_at = enqueued_at - interval '90 days'$$);
select pg_temp.plant(
    $$update public.job_dead_letter d set first_failed_at = d.first_failed_at - interval '3 days' where d.idempotency_key = 'dead_1'$$);

select is(pg_temp.signal('depth_' || s.name), s.wanted, format('dp3.8: depth of %s', s.name))
  from (values ('queued_ready', '3/ok'),
    ('queued_waiting', '2/none'),
    ('leased', '2/none'),
    ('in_progress', '1/none'),
    ('retry_waiting', '3/none'),
    ('succeeded', '4/none'),
    ('dead_letter', '2/none'),
    ('cleaned', '1/none')) s(name, wanted);
select is(
    (select sum(h.value)::int from public.v_queue_health h where h.signal like 'depth\_%'),
    (select count(*)::int from public.job_queue),
    'dp3.8: the depths do not overlap and leave no job out');
select ok(
    (select h.value between 499 and 520
       from public.v_queue_health h
      where h.signal = 'oldest_ready_seconds'),
    'dp3.8: the oldest ready job is the one that could be claimed first, not one that was told to wait');
select ok(
    (select h.value between 999 and 1020
       from public.v_queue_health h
      where h.signal = 'oldest_lease_seconds'),
    'dp3.8: the oldest lease counts from its claim');
select is(
    pg_temp.signal('leases_expired_unreaped'),
    '1/alarm',
    'dp3.8: an expired lease that nobody reaps alarms');
select is(
    pg_temp.signal('retries_due'),
    '2/ok',
    'dp3.8: retries that are due are counted, and only they');
select is(pg_temp.signal('dead_letters_open'), '2/ok', 'dp3.8: open dead letters are counted');
select ok(
    (select h.value between 3 * 86400 - 1 and 3 * 86400 + 60 and h.level = 'ok'
       from public.v_queue_health h
      where h.signal = 'dead_letter_oldest_seconds'),
    'dp3.8: the oldest open dead letter counts from its first failure');
select ok(
    (select h.value between 0 and 60 and h.level = 'ok'
       from public.v_queue_health h
      where h.signal = 'reaper_last_run_seconds'),
    'dp3.8: the last run of the reaper');
select is(
    (select h.bound from public.v_queue_health h where h.signal = 'reaper_last_run_seconds'),
    300::numeric,
    'dp3.8: its bound is half of the smallest lease length');
select is(pg_temp.signal('config_problems'), '0/ok', 'dp3.8: a good configuration has no problem');
select ok(
    (select h.value is not null from public.v_queue_health h where h.signal = 'oldest_xmin_age'),
    'dp3.8: the oldest snapshot''s age is there');
select is(
    (select count(*)::int
       from public.v_queue_health h
      where h.signal like 'dead_tuple%' and h.value between 0 and 100),
    2,
    'dp3.8: the share of dead rows of both hot tables is there');
select is(
    (select count(*)::int
       from public.v_queue_health h
      where h.level not in ('ok', 'none', 'alarm', 'at_least')),
    0,
    'dp3.8: every level is of the vocabulary');

select is(
    (select jsonb_object_agg(p.job_kind, jsonb_build_array(p.waiting, p.dead, p.max_attempts_seen))
       from public.v_job_retry_pressure p
      where p.job_kind in ('health', 'waiting_1', 'dead_1', 'done_1', 'done_5', 'leased_1')),
    '{"health": [0, 0, 0], "waiting_1": [1, 0, 1], "dead_1": [0, 1, 5], "done_1": [0, 0, 1], "done_5": [0, 0, null], "leased_1": [0, 0, 1]}',
    'dp3.8: v_job_retry_pressure counts by kind');
select is(
    (select string_agg(q.idempotency_key, ' ' order by q.idempotency_key)
       from public.v_lease_active a
       join public.job_queue q
         on q.lease_name = a.lease_name),
    'leased_1 leased_2 progress_1',
    'dp3.8: v_lease_active shows what is held, an expired lease too');
select ok(
    (select a.ttl_remaining < 0
       from public.v_lease_active a
      where a.lease_name = 'job:' || pg_temp.id('leased_1')),
    'dp3.8: an expired lease has less than nothing left');
select ok(
    (select a.ttl_remaining between 590 and 610
       from public.v_lease_active a
      where a.lease_name = 'job:' || pg_temp.id('leased_2')),
    'dp3.8: a live one has what is left');
insert into public.iu_route_dead_letter (event_ref, event_domain, event_type, route_code,
  failure_code, attempts, first_failed_at, last_failed_at, resolved_at, resolution) values ('open',
  'd', 't', 'r', 'CODE_1', 1, '2026-01-01 00:00:00+00', '2026-01-01', null, null),
  ('closed', 'd', 't', 'r', 'CODE_1', 1, '2020-01-01', '2020-01-01', now(), 'discarded');
select is(
    pg_temp.answer('select public.fn_dead_letter_health()') - 'oldest_first_failed_at',
    '{"open_count_event": 1, "open_count_job": 2, "by_failure_code": {"CODE_1": 2, "CODE_2": 1}}',
    'dp3.8: fn_dead_letter_health counts what is open, of events and of jobs');
select is(
    (
        pg_temp.answer('select public.fn_dead_letter_health()') ->> 'oldest_first_failed_at')::timestamptz,
    '2026-01-01 00:00:00+00',
    'dp3.8: and names the oldest');
select is(
    (select jsonb_agg(v.key order by v.key)
       from public.v_queue_config v
      where v.key like 'queue.retry.%'),
    '["queue.retry.backoff.base_seconds", "queue.retry.backoff.cap_seconds", "queue.retry.backoff.strategy", "queue.retry.max_attempts.default", "queue.retry.promoter"]',
    'dp3.8: v_queue_config lists the keys of the configuration');

-- Bounds -------------------------------------------------------------------------------------------------

select pg_temp.configure('queue.health.ready_max', '2');
select is(
    pg_temp.signal('depth_queued_ready'),
    '3/alarm',
    'dp3.8: more ready jobs than ready_max alarm');
select pg_temp.configure('queue.health.ready_max', '3');
select is(pg_temp.signal('depth_queued_ready'), '3/ok', 'dp3.8: as many as ready_max do not');
select pg_temp.configure('queue.health.oldest_ready_seconds', '400');
select is(
    (select h.level from public.v_queue_health h where h.signal = 'oldest_ready_seconds'),
    'alarm',
    'dp3.8: a ready job older than its bound alarms');
select pg_temp.configure('queue.health.retries_due_max', '1');
select is(
    pg_temp.signal('retries_due'),
    '2/alarm',
    'dp3.8: more due retries than their bound alarm');
select pg_temp.configure('queue.health.dead_letters_open_max', '1');
select is(
    pg_temp.signal('dead_letters_open'),
    '2/alarm',
    'dp3.8: more open dead letters than their bound alarm');
select pg_temp.configure('queue.health.dead_letter_age_seconds', '86400');
select is(
    (select h.level from public.v_queue_health h where h.signal = 'dead_letter_oldest_seconds'),
    'alarm',
    'dp3.8: an old dead letter alarms');
select pg_temp.answer(
    format(
      $$select public.fn_job_dead_letter_triage_update(%L, 'closed', 'judge')$$,
      d.dead_letter_id))
  from public.job_dead_letter d
 where d.idempotency_key = 'dead_1';
select is(
    (select h.level from public.v_queue_health h where h.signal = 'dead_letter_oldest_seconds'),
    'ok',
    'dp3.8: triage closed silences its age');
select is(pg_temp.signal('dead_letters_open'), '2/alarm', 'dp3.8: but it still counts as open');
select pg_temp.plant(
    $$update public.job_dead_letter d set resolved_at = clock_timestamp(), resolution = 'discarded' where d.idempotency_key = 'dead_1'$$);
select is(pg_temp.signal('dead_letters_open'), '1/ok', 'dp3.8: a resolved one does not');
select pg_temp.plant(
    $$update public.job_sweep s set started_at = s.started_at - interval '301 seconds', finished_at = s.finished_at - interval '301 seconds'$$);
select pg_temp.plant(
    $$update dot_queue.release r set installed_at = r.installed_at - interval '1 day'$$);
select is(
    (select h.level from public.v_queue_health h where h.signal = 'reaper_last_run_seconds'),
    'alarm',
    'dp3.8: a reaper that ran longer ago than half a lease alarms');
select pg_temp.plant($$delete from public.dot_config c where c.key = 'queue.gap.ready_seconds'$$);
select pg_temp.plant(
    $$update public.dot_config c set value = 'x' where c.key = 'queue.health.xmin_age_max'$$);
select is(
    pg_temp.signal('config_problems'),
    '2/alarm',
    'dp3.8: problems of the configuration are counted, and alarm');
select is(
    (select string_agg(v.key, ' ' order by v.key)
       from public.v_queue_config v
      where v.problem is not null),
    'queue.gap.ready_seconds queue.health.xmin_age_max',
    'dp3.8: v_queue_config names them');

-- The cap.
select pg_temp.configure('queue.health.count_cap', '2');
select is(
    pg_temp.signal('depth_queued_ready'),
    '2/at_least',
    'dp3.8: a count stops at count_cap and says so');
select is(pg_temp.signal('depth_cleaned'), '1/none', 'dp3.8: one below the cap is exact');
select ok(
    pg_get_viewdef('public.v_queue_health'::regclass) not like '%v_job_retry_pressure%',
    'dp3.8: v_queue_health never reads v_job_retry_pressure');

-- fn_job_get -----------------------------------------------------------------------------------------------

select is(
    pg_temp.answer(format('select public.fn_job_get(%L)', pg_temp.id('leased_2'))) ->> 'status',
    'leased',
    'dp3.8: fn_job_get shows a job');
select is(
    (select count(*)::int
       from public.job_queue q
      where pg_temp.answer(format('select public.fn_job_get(%L)', q.job_id))::text
        like any (array['%' || q.lease_token || '%', '%' || q.ended_token || '%'])),
    0,
    'dp3.8: fn_job_get never shows a token');
select ok(
    not exists (select 1
                  from public.job_queue q,
                         jsonb_object_keys(
                           pg_temp.answer(format('select public.fn_job_get(%L)', q.job_id))) k
                 where k like '%token%'),
    'dp3.8: not even the name of one');
select is(
    pg_temp.answer(
      'select public.fn_job_get(''00000000-0000-0000-0000-000000000000'')') ->> 'reason',
    'job_not_found',
    'dp3.8: fn_job_get of an unknown job is refused');

select * from finish();
rollback;
