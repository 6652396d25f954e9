-- Configuration (§8.1–§8.3, DP3 §3.2): one catalogue, refused at the write, a default and an alarm for
-- what is missing or wrong all the same; and the executor set (§11.5).
begin;
\ir lib/session.sql
select plan(134);

create function pg_temp.set_to(p_key text, p_value text, p_actor text default 'tester')
returns jsonb
language sql
as $$
  select pg_temp.answer(format('select public.fn_job_config_set(%L, %L, %L)', p_key, p_value, p_actor))
$$;
create function pg_temp.in_force(p_key text)
returns text
language sql
as $$
  select pg_temp.answer(format('select public.fn_job_config_get(%L)', p_key)) ->> 'in_force'
$$;

-- Defaults -------------------------------------------------------------------------------------------

select is(pg_temp.in_force(d.key), d.value, format('s8.1: the default of %s', d.key)) from (values
  ('queue.retry.max_attempts.default', '5')) d(key, value);
select is(pg_temp.in_force(d.key), d.value, format('s8.2: the default of %s', d.key))
  from (values ('queue.retry.backoff.strategy', 'exponential'),
    ('queue.retry.backoff.base_seconds', '30'),
    ('queue.retry.backoff.cap_seconds', '3600'),
    ('queue.retry.promoter', 'claim')) d(key, value);
select is(pg_temp.in_force(d.key), d.value, format('s8.3: the default of %s', d.key))
  from (values ('queue.lease.ttl_seconds.default', '600'),
    ('queue.lease.min_ttl_seconds', '1'),
    ('queue.lease.max_ttl_seconds', '86400'),
    ('queue.lease.max_hold_seconds', '604800'),
    ('queue.lease_reaper.enabled', 'true'),
    ('queue.lease_reaper.cadence_seconds', '240'),
    ('queue.lease_reaper.grace_seconds', '30')) d(key, value);
select is(pg_temp.in_force(d.key), d.value, format('s15.5: the default of %s', d.key))
  from (values ('queue.enqueue.dedupe_seconds', '300'),
    ('queue.enqueue.max_delay_seconds', '31536000')) d(key, value);
select is(pg_temp.in_force(d.key), d.value, format('s15.5: the default of %s', d.key))
  from (values ('queue.job_substrate.enabled', 'true'),
    ('queue.dlq.replay_enabled', 'false'),
    ('queue.refusal.acknowledgement_required', 'false')) d(key, value);
select is(pg_temp.in_force(d.key), d.value, format('s15.5: the default of %s', d.key))
  from (values ('queue.gap.ready_seconds', '3600'),
    ('queue.gap.retry_due_seconds', '600'),
    ('queue.health.count_cap', '10000')) d(key, value);

-- Reading and writing ---------------------------------------------------------------------------------

select pg_temp.mark();
select is(
    pg_temp.set_to('queue.retry.backoff.base_seconds', '45') -> 'refused',
    'false',
    's8.2: a good value is taken');
select is(
    pg_temp.in_force('queue.retry.backoff.base_seconds'),
    '45',
    's8.2: and is in force at once');
select is(
    (select jsonb_build_array(r.actor, r.job_id, r.refused)
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint),
    '["tester", null, false]',
    'd35: a change of the configuration is one audit row without a job');
select ok(
    (select r.detail::text like '%queue.retry.backoff.base_seconds%'
       and r.detail::text like '%"30"%' and r.detail::text like '%"45"%'
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint),
    'd35: it holds the key and both values');
select is(
    (select c.updated_by from public.dot_config c where c.key = 'queue.retry.backoff.base_seconds'),
    'tester',
    'd35: the row says who changed it');
select is(
    (select c.key
       from public.v_queue_config c
      where c.key = 'queue.retry.backoff.base_seconds' and c.value = '45'),
    'queue.retry.backoff.base_seconds',
    's15.5: v_queue_config shows it');
select is(
    pg_temp.set_to('queue.retry.backoff.base_seconds', '30') ->> 'refused',
    'false',
    's8.2: and back');

select is(
    pg_temp.set_to('queue.retry.max_attempts.my_kind', '2') -> 'refused',
    'false',
    's8.1: a kind may have a maximum of its own');
select is(
    pg_temp.in_force('queue.retry.max_attempts.my_kind'),
    '2',
    's8.1: which is in force for it');
select is(
    pg_temp.set_to('queue.retry.max_attempts.my_kind', null) -> 'refused',
    'false',
    's8.1: a NULL value removes a kind''s own key');
select is(
    (select count(*)::int from public.dot_config c where c.key = 'queue.retry.max_attempts.my_kind'),
    0,
    's8.1: the key is gone');
select is(
    pg_temp.in_force('queue.retry.max_attempts.my_kind'),
    '5',
    's8.1: and the default is in force again');
select is(
    pg_temp.verdict(pg_temp.set_to('queue.retry.max_attempts.default', null)),
    'invalid_argument',
    's8.1: a NULL value removes no other key');

select is(
    pg_temp.set_to(k.key, '1') ->> 'argument',
    'p_key',
    format('s15.5: the key %s is unknown', coalesce(k.key, 'NULL')))
  from (values (null),
    (''),
    ('queue.retry.max_attempt.default'),
    ('queue.retry.max_attempts'),
    ('queue.retry.max_attempts.My_Kind'),
    ('queue.lease.ttl_seconds.'),
    ('queue.lease.ttl_second.default'),
    ('queue.retry.max_attempts.lease_reaper'),
    ('queue.retry.backoff.base_seconds.my_kind'),
    ('other.key'),
    ('queue.retry.max_attempts.' || repeat('k', 64))) k(key);
select is(
    pg_temp.verdict(pg_temp.answer(format('select public.fn_job_config_get(%L)', k.key))),
    'invalid_argument',
    format('s15.5: the key %s cannot be read', coalesce(k.key, 'NULL')))
  from (values (null), (''), ('queue.retry.max_attempt.default'), ('other.key')) k(key);
select is(
    pg_temp.set_to('queue.retry.promoter', 'claim', '') ->> 'reason',
    'actor_required',
    's15.5: a change needs an actor that is more than blanks');

-- Bad values, by fn_job_config_set and by hand -------------------------------------------------------------

create temp table bad(key text, value text) on commit drop;
insert into bad values ('queue.job_substrate.enabled', 'yes'),
  ('queue.job_substrate.enabled', 'TRUE'), ('queue.job_substrate.enabled', ''),
  ('queue.job_substrate.enabled', '1'), ('queue.retry.max_attempts.default', '0'),
  ('queue.retry.max_attempts.default', '-1'), ('queue.retry.max_attempts.default', 'five'),
  ('queue.retry.max_attempts.default', '5.0'), ('queue.retry.max_attempts.my_kind', '0'),
  ('queue.retry.promoter', 'both'), ('queue.lease.ttl_seconds.default', '0'),
  ('queue.lease.ttl_seconds.default', '-600'), ('queue.lease.ttl_seconds.default', '60s'),
  ('queue.lease.ttl_seconds.default', ' 600'), ('queue.lease.ttl_seconds.default', '600 '),
  ('queue.lease.ttl_seconds.default', '1e3'), ('queue.lease.ttl_seconds.default', '1000000000'),
  ('queue.lease.ttl_seconds.default', '99999999999999999999'),
  ('queue.lease.ttl_seconds.my_kind', '0x10'), ('queue.lease.ttl_seconds.default', 'NaN'),
  ('queue.lease.ttl_seconds.default', 'infinity'), ('queue.lease.ttl_seconds.default', '٦٠٠'),
  ('queue.lease_reaper.grace_seconds', '-1'), ('queue.enqueue.dedupe_seconds', 'never'),
  ('queue.dlq.replay_enabled', 'on'), ('queue.health.count_cap', '0');
select pg_temp.mark();
create temp table before_bad on commit drop as select pg_temp.state() as state;
select is(
    pg_temp.set_to(b.key, b.value) - 'problem',
    '{"refused": true, "reason": "invalid_argument", "argument": "p_value"}',
    format('s15.5: %s = "%s" is refused', b.key, b.value))
  from bad b;
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint
        and r.refused
        and r.reason = 'invalid_argument'),
    26,
    's15.5: each refused value is one audit row');
create function pg_temp.by_hand(p_statement text)
returns text
language plpgsql
as $$
begin
  execute p_statement;
  return 'accepted';
exception when others then
  return sqlstate;
end
$$;
select is(
    (select jsonb_agg(to_jsonb(b))
       from bad b
      where pg_temp.by_hand(
        format(
          'insert into public.dot_config (key, value) values (%L, %L) on conflict (key) do update set value = excluded.value',
          b.key,
          b.value)) = 'accepted'),
    null,
    's15.5: no bad value can be written by hand either');
select isnt(
    pg_temp.by_hand(format('insert into public.dot_config (key, value) values (%L, ''1'')', k.key)),
    'accepted',
    format('s15.5: the unknown key %s cannot be written by hand', k.key))
  from (values ('queue.retry.max_attempt.default'),
    ('queue.lease.ttl_second.x'),
    ('queue.health.typo'),
    ('queue.lease_reaper.enable')) k(key);
select isnt(
    pg_temp.by_hand(
      $$update public.dot_config set key = 'queue.retry.typo' where key = 'queue.retry.promoter'$$),
    'accepted',
    's15.5: a key cannot be renamed to an unknown one');
select is(
    pg_temp.by_hand(
      format('insert into public.dot_config (key, value) values (%L, ''anything'')', k.key)),
    'accepted',
    format('s15.5: the key %s of another document passes', k.key))
  from (values ('queue.archive.path'), ('queue.other'), ('iu.anything'), ('queues.retry.x')) k(key);
delete
  from public.dot_config c
 where c.key in ('queue.archive.path', 'queue.other', 'iu.anything', 'queues.retry.x');
select is(pg_temp.state(), b.state, 's15.5: nothing that was refused is there') from before_bad b;

-- Rules between values (DP3 §10) -----------------------------------------------------------------------------

select is(
    pg_temp.verdict(pg_temp.set_to('queue.lease_reaper.cadence_seconds', '300')),
    'invalid_argument',
    's8.3: a cadence of half the lease length is refused');
select is(
    pg_temp.verdict(pg_temp.set_to('queue.lease_reaper.cadence_seconds', '299')),
    'done',
    's8.3: a cadence below half of it is taken');
select is(
    pg_temp.verdict(pg_temp.set_to('queue.lease.ttl_seconds.default', '598')),
    'invalid_argument',
    's8.3: a lease length of twice the cadence is refused');
select is(
    pg_temp.verdict(pg_temp.set_to('queue.lease.ttl_seconds.quick', '598')),
    'invalid_argument',
    's8.3: a kind''s lease length of twice the cadence is refused');
select is(
    pg_temp.verdict(pg_temp.set_to('queue.lease.ttl_seconds.quick', '599')),
    'done',
    's8.3: a kind''s lease length above it is taken');
select is(
    pg_temp.verdict(pg_temp.set_to('queue.lease_reaper.cadence_seconds', '240')),
    'done',
    's8.3: the cadence can be lowered again');
select is(
    pg_temp.verdict(pg_temp.set_to('queue.lease.ttl_seconds.quick', '481')),
    'done',
    's8.3: then a kind may have a shorter lease');
select is(
    pg_temp.verdict(pg_temp.set_to('queue.lease_reaper.cadence_seconds', '241')),
    'invalid_argument',
    's8.3: the cadence is below half of every configured lease length, not only the default');

-- A setting that is gone has its default.
delete from public.dot_config where key = 'queue.lease.ttl_seconds.default';
select public.fn_job_enqueue('unset', 'tests', 'dot_iu', 'unset', '{}');
create temp table unset on commit drop as
  select c.job_id from public.fn_job_claim(array['unset'], null, 'worker') c;
select is(
    (select extract(epoch from q.leased_until - q.leased_at)::int
       from public.job_queue q
      where q.job_id in (select u.job_id from unset u)),
    600,
    's8.3: without its setting, a claim is leased for the default length');
select public.fn_job_seed();

-- Missing and wrong values that are there all the same ------------------------------------------------------------

select pg_temp.hold('running');
select pg_temp.plant(
    $$delete from public.dot_config c where c.key = 'queue.retry.max_attempts.default'$$);
select is(
    pg_temp.in_force('queue.retry.max_attempts.default'),
    '5',
    's15.5: a missing key uses its default');
select is(
    (select g.status from public.v_job_silent_gap g where g.reason = 'config_missing'),
    'queue.retry.max_attempts.default',
    's15.5: and is named by the gap view');
select is(
    pg_temp.fail('running') ->> 'status_to',
    'retry_waiting',
    's15.5: a failure under a missing key is recorded');
select is(
    pg_temp.answer('select public.fn_job_seed()'),
    '{"refused": false, "inserted": 1}',
    's15.5: fn_job_seed puts back what is missing');
select is(
    pg_temp.answer('select public.fn_job_seed()'),
    '{"refused": false, "inserted": 0}',
    's15.5: and only that');

-- A bad value of one kind stops that kind alone.
select pg_temp.configure('queue.lease.ttl_seconds.bad_kind', '500');
select pg_temp.enqueue('bad_kind');
select pg_temp.enqueue('good_kind');
select pg_temp.plant(
  $$update public.dot_config c set value = 'x' where c.key = 'queue.lease.ttl_seconds.bad_kind'$$);
select is(
    pg_temp.rows($$select * from public.fn_job_claim(array['bad_kind'], 'n', 'w')$$) -> 'detail',
    '{"refused": true, "reason": "config_invalid", "key": "queue.lease.ttl_seconds.bad_kind"}',
    's15.5: a bad lease length of a kind refuses the claims of that kind');
select isnt(pg_temp.claim('good_kind'), null, 's15.5: and of no other');
select pg_temp.plant(
  $$delete from public.dot_config c where c.key = 'queue.lease.ttl_seconds.bad_kind'$$);

-- Every key, with values that are wrong under running jobs: whatever ends a lease works, what starts one refuses.
create function pg_temp.under(p_key text, p_value text)
returns text
language plpgsql
as $$
declare
  v_kind text := 'under_' || substr(md5(p_key || p_value), 1, 12);
  v_saved text := (select c.value from public.dot_config c where c.key = p_key);
  v_seen text;
begin
  perform pg_temp.hold(v_kind || k.part, 500) from unnest(array['_a', '_b', '_c', '_d', '_e']) k(part);
  perform pg_temp.plant(format('update public.dot_config c set value = %L where c.key = %L', p_value, p_key));
  perform pg_temp.expire(v_kind || '_e');
  v_seen := concat_ws(' ',
    pg_temp.verdict(pg_temp.call('fn_job_lease_renew', v_kind || '_a')),
    pg_temp.verdict(pg_temp.call('fn_job_progress', v_kind || '_a')),
    pg_temp.verdict(pg_temp.call('fn_job_succeed', v_kind || '_a')),
    pg_temp.verdict(pg_temp.call('fn_job_fail_transient', v_kind || '_b', '''E'', ''m''')),
    pg_temp.verdict(pg_temp.call('fn_job_fail_permanent', v_kind || '_c', '''E'', ''m''')),
    pg_temp.verdict(pg_temp.answer('select public.fn_job_lease_reaper()')));
  v_seen := v_seen || ' ' || (pg_temp.job(v_kind || '_e')).status;
  v_seen := v_seen || ' ' || (select count(*) from public.v_job_silent_gap g where g.reason = 'config_invalid' and g.status = p_key);
  perform pg_temp.plant(format('update public.dot_config c set value = %L where c.key = %L', v_saved, p_key));
  return v_seen;
end
$$;
-- A number far out of bounds where a number belongs, and no word of the vocabulary elsewhere.
select is(
    pg_temp.under(c.key, v.value),
    'done done done done done done retry_waiting 1',
    format(
      's15.5: with %s = "%s" every lease can be ended, and the gap view names the key',
      c.key,
      v.value))
  from public.dot_config c
 cross join lateral (select case when c.value ~ '^[0-9]+$' then '-99999999999999999999' else 'rubbish' end as value) v
 where c.key ~ '^queue\.(job_substrate|retry|lease|lease_reaper|enqueue|dlq|refusal)\.'
   and c.key <> 'queue.lease.ttl_seconds.quick'
 order by c.key;

-- The executor set (§11.5) ------------------------------------------------------------------------------------

select is(
    (select jsonb_agg(to_jsonb(e) - array['updated_at', 'updated_by']) from public.job_executor e),
    '[{"executor": "dot_iu", "job_kind": "*", "enabled": true}]',
    's11.5: one executor ships, dot_iu for every kind');
select pg_temp.mark();
select is(
    pg_temp.answer(
      $$select public.fn_job_executor_set('mailer', 'mail', true, 'tester')$$) -> 'refused',
    'false',
    's11.5: an executor is registered for a kind');
select is(
    pg_temp.answer(
      $$select public.fn_job_enqueue('mail', 'test', 'mailer', 'mail', '{}')$$) -> 'created',
    'true',
    's11.5: and its jobs are taken');
select is(
    pg_temp.answer(
      $$select public.fn_job_executor_set('mailer', 'mail', false, 'tester')$$) -> 'refused',
    'false',
    's11.5: it is taken away again');
select is(
    pg_temp.verdict(
      pg_temp.answer($$select public.fn_job_enqueue('mail', 'test', 'mailer', 'mail_2', '{}')$$)),
    'unknown_executor',
    's11.5: and its jobs are refused');
select is(
    (select g.reason from public.v_job_silent_gap g where g.job_id = pg_temp.id('mail')),
    'no_executor',
    's15.5: a job whose executor was taken away is a silent gap');
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint
        and r.job_id is null
        and r.detail::text like '%mailer%'
        and r.actor = 'tester'
        and not r.refused),
    2,
    'd35: each change of the executor set is one audit row with its values');
select is(
    pg_temp.answer(format('select public.fn_job_executor_set(%s)', a.arguments)) ->> 'argument',
    a.argument,
    format('s11.5: fn_job_executor_set(%s) is refused', a.arguments))
  from (values ('null, ''*'', true', 'p_executor'),
    (''''', ''*'', true', 'p_executor'),
    ('''x'', null, true', 'p_job_kind'),
    ('''x'', ''Bad'', true', 'p_job_kind'),
    ('''x'', ''default'', true', 'p_job_kind'),
    ('''x'', ''*'', null', 'p_enabled'),
    ('repeat(''x'', 201), ''*'', true', 'p_executor')) a(arguments, argument);

select * from finish();
rollback;
