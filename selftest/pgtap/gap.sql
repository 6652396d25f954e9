-- The silent gap (§15.5): the view is empty in a healthy system, names each kind of silence, and there is
-- no job that is not over and will never be named.
begin;
\ir lib/session.sql
select plan(55);

-- A template database grows old: one sweep, as in production.
select pg_temp.answer('select public.fn_job_lease_reaper()');
select is(
    (select jsonb_agg(to_jsonb(g)) from public.v_job_silent_gap g),
    null,
    's15.5: a fresh system has no gap');
select is(
    (select array_agg(a.attname::text order by a.attnum)
       from pg_attribute a
      where a.attrelid = 'public.v_job_silent_gap'::regclass and a.attnum > 0),
    '{reason,job_id,job_kind,status,since,overdue_seconds}',
    's15.5: the gap view has the documented columns');

-- A busy but healthy system.
select pg_temp.enqueue('ready');
select pg_temp.enqueue('later', null, 0, clock_timestamp() + interval '1 day');
select pg_temp.hold('held');
select pg_temp.hold('progressing');
select pg_temp.call('fn_job_progress', 'progressing');
select pg_temp.hold('done');
select pg_temp.call('fn_job_succeed', 'done');
select pg_temp.hold('waiting');
select pg_temp.fail('waiting');
select pg_temp.hold('dead');
select pg_temp.call('fn_job_fail_permanent', 'dead', $$'E', 'm'$$);
select is(
    (select jsonb_agg(to_jsonb(g)) from public.v_job_silent_gap g),
    null,
    's15.5: a busy system in which all is well has no gap');

-- Each reason at its bound ---------------------------------------------------------------------------------

create function pg_temp.reasons(p_key text)
returns text
language sql
as $$
  select coalesce(string_agg(g.reason, ' ' order by g.reason), 'none') from public.v_job_silent_gap g where g.job_id = pg_temp.id(p_key)
$$;
create function pg_temp.gap(p_key text, p_reason text)
returns public.v_job_silent_gap
language sql
as $$
  select g.* from public.v_job_silent_gap g where g.job_id = pg_temp.id(p_key) and g.reason = p_reason
$$;

-- Expired: cadence 240 + grace 30.
select pg_temp.hold('unreaped');
select pg_temp.expire('unreaped');
select is(pg_temp.reasons('unreaped'), 'none', 's15.5: a lease that has just expired is no gap yet');
select pg_temp.age('unreaped', 264);
select is(
    pg_temp.reasons('unreaped'),
    'none',
    's15.5: nor one that is unreaped for less than cadence and grace');
select pg_temp.age('unreaped', 10);
select is(
    pg_temp.reasons('unreaped'),
    'lease_expired_unreaped',
    's15.5: beyond them it is lease_expired_unreaped');
select is(
    (pg_temp.gap('unreaped', 'lease_expired_unreaped')).since,
    (pg_temp.job('unreaped')).leased_until,
    's15.5: since its lease ended');
select ok(
    (pg_temp.gap('unreaped', 'lease_expired_unreaped')).overdue_seconds between 3 and 20,
    's15.5: overdue by what goes beyond cadence and grace');
select is(
    format(
      '%s %s',
      (pg_temp.gap('unreaped', 'lease_expired_unreaped')).job_kind,
      (pg_temp.gap('unreaped', 'lease_expired_unreaped')).status),
    'unreaped leased',
    's15.5: with kind and status');
select pg_temp.answer('select public.fn_job_lease_reaper()');
select is(pg_temp.reasons('unreaped'), 'none', 's15.5: reaped, it is no gap any more');

-- Held too long: 604800.
select pg_temp.hold('too_long');
select pg_temp.set('too_long', $$leased_at = clock_timestamp() - interval '604790 seconds'$$);
select is(pg_temp.reasons('too_long'), 'none', 's15.5: a lease within max_hold_seconds is no gap');
select pg_temp.set('too_long', $$leased_at = clock_timestamp() - interval '604802 seconds'$$);
select is(
    pg_temp.reasons('too_long'),
    'lease_held_too_long',
    's15.5: beyond it is lease_held_too_long');

-- Due: 600.
select pg_temp.make_due('waiting');
select pg_temp.age('waiting', 590);
select is(
    pg_temp.reasons('waiting'),
    'none',
    's15.5: a retry that is due for less than retry_due_seconds is no gap');
select pg_temp.age('waiting', 12);
select is(
    pg_temp.reasons('waiting'),
    'retry_due_unclaimed',
    's15.5: beyond it is retry_due_unclaimed');
select pg_temp.make_due('later');
select is(pg_temp.reasons('later'), 'none', 's15.5: a job whose time has just come is no gap');
select pg_temp.age('later', 602);
select is(
    pg_temp.reasons('later'),
    'due_not_promoted',
    's15.5: one that is not made claimable is due_not_promoted');

-- Ready: 3600, counted from when it could first be claimed.
select pg_temp.age('ready', 3590);
select is(
    pg_temp.reasons('ready'),
    'none',
    's15.5: a job that is ready for less than ready_seconds is no gap');
select pg_temp.age('ready', 12);
select is(pg_temp.reasons('ready'), 'ready_unclaimed', 's15.5: beyond it is ready_unclaimed');
select pg_temp.enqueue('postponed', null, 0, clock_timestamp() + interval '1 day');
select pg_temp.set('postponed', $$enqueued_at = enqueued_at - interval '1 day', process_after = clock_timestamp() - interval '1 second'$$);
select pg_temp.answer('select public.fn_job_promote_due()');
select is(
    pg_temp.reasons('postponed'),
    'none',
    's15.5: a job that was told to wait a day has not been ready for a day');

-- Executor, dead letter, mirror.
select pg_temp.enqueue('orphaned');
update public.job_executor e set enabled = false;
select is(
    pg_temp.reasons('orphaned'),
    'no_executor',
    's15.5: a job whose executor is switched off has no_executor');
update public.job_executor e set job_kind = 'another', enabled = true;
select is(
    pg_temp.reasons('orphaned'),
    'no_executor',
    's15.5: and one whose executor works another kind');
update public.job_executor e set job_kind = '*';
select is(pg_temp.reasons('orphaned'), 'none', 's15.5: with its executor back it has none');
select is(pg_temp.reasons('dead'), 'none', 's15.5: a dead job with its dead letter is no gap');
delete from public.job_dead_letter d where d.idempotency_key = 'dead';
select is(
    pg_temp.reasons('dead'),
    'dead_without_dead_letter',
    's15.5: without it is dead_without_dead_letter');
select is(pg_temp.reasons('held'), 'none', 's15.5: a lease with its mirror is no gap');
delete from public.dot_iu_runtime_lease l where l.lease_name = 'job:' || pg_temp.id('held');
select is(pg_temp.reasons('held'), 'mirror_missing', 's15.5: without it is mirror_missing');
insert into public.dot_iu_runtime_lease (
  lease_name,
  lease_holder,
  lease_token,
  acquired_at,
  expires_at) values (
  'job:' || pg_temp.id('done'),
  'w',
  gen_random_uuid(),
  clock_timestamp(),
  clock_timestamp() + interval '1 hour'),
  (
      'job:00000000-0000-0000-0000-000000000001',
      'w',
      gen_random_uuid(),
      clock_timestamp(),
      clock_timestamp() + interval '1 hour'),
  ('job:no-uuid', 'w', gen_random_uuid(), clock_timestamp(), clock_timestamp() + interval '1 hour'),
  ('host-lease', 'w', gen_random_uuid(), clock_timestamp(), clock_timestamp() + interval '1 hour');
select is(
    pg_temp.reasons('done'),
    'mirror_orphan',
    's15.5: a mirror of a job that holds no lease is mirror_orphan');
select is(
    (select g.reason
       from public.v_job_silent_gap g
      where g.job_id = '00000000-0000-0000-0000-000000000001'),
    'mirror_orphan',
    's15.5: and of a job that does not exist');
select is(
    (select count(*)::int from public.v_job_silent_gap g where g.reason = 'mirror_orphan'),
    2,
    's15.5: other rows of the lease table are not the queue''s');
-- The view is asked in many ways; none may trip over a lease name that is no job's.
select lives_ok(
    format('select count(*) from public.v_job_silent_gap g where %s', w.condition),
    format('s15.5: the gap view can be asked for %s beside foreign lease names', w.condition))
  from (values ('g.job_id = ''00000000-0000-0000-0000-000000000001'''),
    ('g.job_id is not null'),
    ('g.job_id::text like ''0%'''),
    ('g.since < now()'),
    ('g.job_kind = ''x''')) w(condition);
delete
  from public.dot_iu_runtime_lease l
 where l.lease_name like 'job:0000%' or l.lease_name in ('job:no-uuid', 'host-lease');

-- The reaper: half of the smallest configured lease length, from the later of install and last run.
create function pg_temp.system_reasons()
returns text
language sql
as $$ select coalesce(string_agg(g.reason, ' ' order by g.reason), 'none') from public.v_job_silent_gap g where g.job_id is null $$;
select is(pg_temp.system_reasons(), 'none', 's15.5: a reaper that has just run is not stale');
create function pg_temp.age_sweeps(p_seconds double precision)
returns void
language plpgsql
as $$
declare
  v_table record;
begin
  -- Every timestamp outside the queue's rows: the install's time is kept where each release likes.
  for v_table in
    select c.oid::regclass as name, string_agg(format('%1$I = %1$I - make_interval(secs => %2$L)', a.attname, p_seconds), ', ') as sets
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.atttypid = 'timestamptz'::regtype and a.attnum > 0 and not a.attisdropped
     where c.relkind = 'r' and (c.relnamespace = 'dot_queue'::regnamespace or c.oid = 'public.job_sweep'::regclass)
     group by c.oid
  loop
    perform pg_temp.plant(format('update %s set %s', v_table.name, v_table.sets));
  end loop;
end
$$;
select pg_temp.age_sweeps(295);
select is(
    pg_temp.system_reasons(),
    'none',
    's15.5: nor one that ran within half of the lease length');
select pg_temp.age_sweeps(10);
select is(pg_temp.system_reasons(), 'reaper_stale', 's15.5: beyond it is reaper_stale');
select pg_temp.configure('queue.lease_reaper.enabled', 'false');
select pg_temp.answer('select public.fn_job_lease_reaper()');
select is(pg_temp.system_reasons(), 'reaper_stale', 's15.5: a reaper that refuses has not run');
select pg_temp.configure('queue.lease_reaper.enabled', 'true');
select pg_temp.answer('select public.fn_job_lease_reaper()');
select is(pg_temp.system_reasons(), 'none', 's15.5: one sweep, and it is not stale');
select pg_temp.configure('queue.lease_reaper.cadence_seconds', '10');
select pg_temp.configure('queue.lease.ttl_seconds.quick', '60');
select pg_temp.age_sweeps(25);
select is(pg_temp.system_reasons(), 'none', 's15.5: with a kind of 60 s, 25 s are well');
select pg_temp.age_sweeps(10);
select is(
    pg_temp.system_reasons(),
    'reaper_stale',
    's15.5: with a kind of 60 s, 35 s are stale: the smallest configured length counts');
delete from public.job_sweep;
select is(
    pg_temp.system_reasons(),
    'reaper_stale',
    's15.5: a reaper that never ran since the install is stale');
select pg_temp.answer('select public.fn_job_lease_reaper()');

-- Configuration, the flag, events.
select pg_temp.plant($$delete from public.dot_config c where c.key = 'queue.gap.ready_seconds'$$);
select is(pg_temp.system_reasons(), 'config_missing', 's15.5: a missing key is config_missing');
select pg_temp.answer('select public.fn_job_seed()');
select pg_temp.plant(
    $$update public.dot_config c set value = 'x' where c.key = 'queue.gap.ready_seconds'$$);
select is(pg_temp.system_reasons(), 'config_invalid', 's15.5: a bad value is config_invalid');
select pg_temp.plant(
    $$update public.dot_config c set value = '3600' where c.key = 'queue.gap.ready_seconds'$$);
select pg_temp.plant(
    $$insert into public.dot_config (key, value) values ('queue.retry.typo', '1')$$);
select is(
    pg_temp.system_reasons(),
    'config_invalid',
    's15.5: an unknown key that is there all the same is config_invalid');
select pg_temp.plant($$delete from public.dot_config c where c.key = 'queue.retry.typo'$$);
select pg_temp.configure('queue.job_substrate.enabled', 'false');
select is(
    pg_temp.system_reasons(),
    'substrate_off_with_backlog',
    's15.5: a substrate that is off with jobs that wait is a gap');
select pg_temp.configure('queue.job_substrate.enabled', 'true');

insert into public.dot_iu_command_run (command, actor, session_role, job_id, status_from, status_to,
  refused, detail, run_at) values ('fn_job_lease_reaper', 'x', 'x', pg_temp.id('ready'), 'leased',
  'retry_waiting', false, '{"event_lost": true}', clock_timestamp() - interval '86390 seconds');
select is(
    pg_temp.reasons('ready'),
    'event_lost ready_unclaimed',
    's15.5: a lost event is event_lost for a day');
select pg_temp.plant(
    $$update public.dot_iu_command_run r set run_at = r.run_at - interval '20 seconds' where r.detail ? 'event_lost'$$);
select is(pg_temp.reasons('ready'), 'ready_unclaimed', 's15.5: and no longer');

-- No job that is not over is silent for ever ------------------------------------------------------------------

select pg_temp.enqueue('for_ever_queued');
select pg_temp.enqueue('for_ever_later', null, 0, clock_timestamp() + interval '300 days');
select pg_temp.hold('for_ever_leased', 86400);
select pg_temp.hold('for_ever_progress', 86400);
select pg_temp.call('fn_job_progress', 'for_ever_progress');
select pg_temp.hold('for_ever_waiting');
select pg_temp.fail('for_ever_waiting');
select pg_temp.age(k.key, 400 * 86400)
  from (select q.idempotency_key as key
          from public.job_queue q
         where q.idempotency_key like 'for_ever%') k;
select isnt(pg_temp.reasons(k.key), 'none', format('s15.5: %s is named at last', k.key))
  from (select q.idempotency_key as key
          from public.job_queue q
         where q.idempotency_key like 'for_ever%'
         order by 1) k;
-- A lease that is renewed again and again is named too.
select pg_temp.hold('renewed_for_ever');
select pg_temp.set('renewed_for_ever', $$leased_at = clock_timestamp() - interval '8 days'$$);
select is(
    pg_temp.reasons('renewed_for_ever'),
    'lease_held_too_long',
    's15.5: a job whose worker only renews is named');

-- After one sweep and the work, all is well again.
delete from public.job_queue;
delete from public.dot_iu_runtime_lease;
select pg_temp.answer('select public.fn_job_lease_reaper()');
select is(
    (select jsonb_agg(to_jsonb(g)) from public.v_job_silent_gap g),
    null,
    's15.5: when all of it is mended the view is empty again');

select * from finish();
rollback;
