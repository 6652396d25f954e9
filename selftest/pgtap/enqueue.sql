-- Enqueue: one active job a key (§7), what a job may carry (signal, not data), who may work it (§11.5).
begin;
\ir lib/session.sql
select plan(93);

-- A call with chosen arguments; the rest is good.
create function pg_temp.try(p_overrides text, p_key text default 'key_try')
returns jsonb
language sql
as $$
  select pg_temp.answer(format(
    'select public.fn_job_enqueue(%s)',
    (select string_agg(format('%s => %s', a.name, coalesce(o.value #>> '{}', a.value)), ', ' order by a.place)
       from (values
         (1, 'p_job_kind', '''demo'''), (2, 'p_event_domain', '''test'''), (3, 'p_executor', '''dot_iu'''),
         (4, 'p_idempotency_key', quote_literal(p_key)), (5, 'p_payload', '''{"ref": 1}'''),
         (6, 'p_priority', '0'), (7, 'p_process_after', 'null'), (8, 'p_actor', '''tester''')
       ) a(place, name, value)
       left join jsonb_each(p_overrides::jsonb) o(name, value) on o.name = a.name)))
$$;

-- A new job ---------------------------------------------------------------------------------------

create temp table new_job on commit drop as
  select clock_timestamp() as before, pg_temp.enqueue('fresh') as answer, clock_timestamp() as after;

select is(
    pg_temp.keys(answer),
    'created job_id refused status',
    's7: a new job answers refused, created, job_id and status')
  from new_job;
select is(
    answer - 'job_id',
    '{"refused": false, "created": true, "status": "queued"}',
    's7: a new key makes a job')
  from new_job;
select is(
    (select to_jsonb(q) - array['job_id', 'process_after', 'enqueued_at']
       from public.job_queue q
      where q.job_id = (answer ->> 'job_id')::uuid) - array['ended_outcome'],
    '{"job_kind": "fresh", "event_domain": "test", "executor": "dot_iu", "idempotency_key": "fresh", "payload": {"ref": 1},
    "priority": 0, "status": "queued", "claimable": true, "attempts": 0, "lease_name": null, "lease_holder": null,
    "lease_token": null, "leased_at": null, "leased_until": null, "ended_token": null, "ended_by": null,
    "first_failed_at": null, "last_error": null, "last_error_at": null, "finished_at": null}'::jsonb,
    's7: a new job is queued, claimable, without attempts and without a lease')
  from new_job;
select ok(
    (pg_temp.job('fresh')).enqueued_at between before and after,
    's5.2: enqueued_at is the moment of the call, not of the transaction')
  from new_job;
select ok(
    (pg_temp.job('fresh')).process_after between before and after,
    's5.2: process_after is by default the moment of the call')
  from new_job;
select is(
    pg_temp.audited(pg_temp.id('fresh')),
    'null>queued',
    's7: creation is one audit row, from nothing to queued');
select is(
    (select jsonb_build_object('actor', r.actor, 'session_role', r.session_role, 'attempt',
         coalesce(r.attempt, 0), 'refused', r.refused, 'reason', r.reason)
       from public.dot_iu_command_run r
      where r.job_id = pg_temp.id('fresh')),
    jsonb_build_object('actor', 'tester', 'session_role', session_user, 'attempt', 0, 'refused',
      false, 'reason', null),
    's7: the audit row names the actor beside the session role');

-- The same key --------------------------------------------------------------------------------------

select pg_temp.mark();
create temp table before_again on commit drop as select pg_temp.state() as state;
select is(
    pg_temp.enqueue('fresh'),
    jsonb_build_object('refused', false, 'created', false, 'job_id', pg_temp.id('fresh'), 'status',
      'queued'),
    's7: the same key and content finds the active job');
select is(
    pg_temp.try(
      '{"p_job_kind": "''fresh''", "p_priority": "7", "p_process_after": "now() + interval ''1 hour''"}',
      'fresh') ->> 'created',
    'false',
    's7: priority and process_after are not content');
select is(
    pg_temp.try(
      '{"p_job_kind": "''fresh''", "p_payload": "''{ \"ref\":1 }''"}',
      'fresh') ->> 'created',
    'false',
    's7: payloads are compared as JSON, not as text');
select is(pg_temp.audited(), '', 's7: an enqueue that finds its job writes no audit row');
select is(pg_temp.state(), state, 's7: an enqueue that finds its job changes nothing')
  from before_again;

select is(
    pg_temp.verdict(pg_temp.try('{"p_job_kind": "''fresh''", ' || o.change || '}', 'fresh')),
    'idempotency_conflict',
    's7: the same key with another ' || o.what || ' is a conflict')
  from (values ('payload', '"p_payload": "''{\"ref\": 2}''"'),
    ('domain', '"p_event_domain": "''other''"')) o(what, change);
select is(
    pg_temp.verdict(pg_temp.try('{}', 'fresh')),
    'idempotency_conflict',
    's7: the same key with another kind is a conflict');
insert into public.job_executor (executor, job_kind) values ('second', '*');
select is(
    pg_temp.verdict(pg_temp.try('{"p_job_kind": "''fresh''", "p_executor": "''second''"}', 'fresh')),
    'idempotency_conflict',
    's7: the same key with another executor is a conflict');
select is(
    (select count(*)::int from public.job_queue q where q.idempotency_key = 'fresh'),
    1,
    's8.5: a conflict makes no second job');
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint
        and r.refused
        and r.reason = 'idempotency_conflict'),
    4,
    's8.5: each conflict is one audit row');

select is(pg_temp.verdict(pg_temp.enqueue('Fresh', 'fresh')), 'done', 's7: keys differ by case');

-- The answer shows the state that the job is in, whichever it is.
select pg_temp.claim('fresh');
select is(
    pg_temp.enqueue('fresh') - 'job_id',
    '{"refused": false, "created": false, "status": "leased"}',
    's7: a leased job holds its key');
select pg_temp.call('fn_job_progress', 'fresh');
select is(
    pg_temp.enqueue('fresh') - 'job_id',
    '{"refused": false, "created": false, "status": "in_progress"}',
    's7: a job in progress holds its key');
select pg_temp.fail('fresh');
select is(
    pg_temp.enqueue('fresh') - 'job_id',
    '{"refused": false, "created": false, "status": "retry_waiting"}',
    's7: a job that waits for its retry holds its key');

-- A key whose job is over ----------------------------------------------------------------------------

select pg_temp.hold('over');
select pg_temp.call('fn_job_succeed', 'over');
create temp table over on commit drop as select pg_temp.id('over') as job_id;
select pg_temp.mark();
select is(
    pg_temp.enqueue('over'),
    jsonb_build_object('refused', false, 'created', false, 'finished', true, 'job_id', o.job_id,
      'status', 'succeeded'),
    's7: the same enqueue soon after success finds the finished job')
  from over o;
select is(pg_temp.audited(), '', 's7: an enqueue that finds a finished job writes no audit row');
select pg_temp.age('over', 295);
select is(
    pg_temp.enqueue('over') ->> 'finished',
    'true',
    's7: five minutes after finishing are not over at 295 s');
select pg_temp.age('over', 10);
select is(
    pg_temp.enqueue('over') - 'job_id',
    '{"refused": false, "created": true, "status": "queued"}',
    's7: after the dedupe time the key makes a new job');
select isnt(pg_temp.id('over'), o.job_id, 's7: the new job of a finished key has an id of its own')
  from over o;
select is(
    pg_temp.enqueue('over'),
    jsonb_build_object('refused', false, 'created', false, 'job_id', q.job_id, 'status', 'queued'),
    's7: beside a finished job of its key, the active one is answered')
  from public.job_queue q
 where q.idempotency_key = 'over'
   and q.status = 'queued';

select pg_temp.hold('other_content');
select pg_temp.call('fn_job_succeed', 'other_content');
select is(
    pg_temp.try(
      '{"p_job_kind": "''other_content''", "p_payload": "''{\"ref\": 2}''"}',
      'other_content') ->> 'created',
    'true',
    's7: other content under a key that has just finished is a new job');

select pg_temp.hold('dead');
select pg_temp.call('fn_job_fail_permanent', 'dead', $$'E', 'no'$$);
select is(
    pg_temp.enqueue('dead') - 'job_id',
    '{"refused": false, "created": false, "finished": true, "status": "dead_letter"}',
    's7: the same enqueue soon after death finds the dead job');
select pg_temp.age('dead', 301);
select is(
    pg_temp.enqueue('dead') ->> 'created',
    'true',
    's7: a dead job does not hold its key for ever');

select pg_temp.configure('queue.enqueue.dedupe_seconds', '0');
select pg_temp.hold('no_dedupe');
select pg_temp.call('fn_job_succeed', 'no_dedupe');
select is(pg_temp.enqueue('no_dedupe') ->> 'created', 'true', 's7: dedupe_seconds 0 is off');
select pg_temp.configure('queue.enqueue.dedupe_seconds', '300');

select throws_ok(
    $$insert into public.job_queue (job_kind, event_domain, executor, idempotency_key, payload, claimable)
    select q.job_kind, q.event_domain, q.executor, q.idempotency_key, q.payload, false from public.job_queue q where q.idempotency_key = 'fresh'$$,
    '23505',
    null,
    's7: a hand-written second active row of a key is refused by the table');

-- Defaults and limits of the arguments -----------------------------------------------------------------

select is(
    pg_temp.verdict(pg_temp.try('{"p_priority": "null"}', 'prio_null')),
    'done',
    's8.5: a NULL priority is the default');
select is((pg_temp.job('prio_null')).priority, 0, 's5.2: the default priority is 0');
select is(
    pg_temp.verdict(pg_temp.try(format('{"p_priority": "%s"}', p.value), 'prio_' || p.name)),
    'done',
    's5.2: the ' || p.name || ' priority is accepted')
  from (values ('least', '-2147483648'), ('greatest', '2147483647')) p(name, value);
select is(
    pg_temp.verdict(pg_temp.try('{"p_actor": "null"}', 'actor_null')),
    'done',
    's8.5: a NULL actor is the default');
select is(
    (select r.actor from public.dot_iu_command_run r where r.job_id = pg_temp.id('actor_null')),
    session_user::text,
    's7: the default actor is the session user');
select is(
    pg_temp.verdict(
      pg_temp.answer($$select public.fn_job_enqueue('demo', 'test', 'dot_iu', 'defaults', '{}')$$)),
    'done',
    's8.5: the last three arguments may be left out');

select is(
    pg_temp.verdict(
      pg_temp.try('{"p_process_after": "clock_timestamp() + interval ''1 hour''"}', 'later')),
    'done',
    's5.2: a job may be enqueued for later');
select is(
    (select format('%s %s', q.status, q.claimable)
       from public.job_queue q
      where q.idempotency_key = 'later'),
    'queued f',
    's5.2: a job for later is queued and not yet claimable');
select is(
    pg_temp.verdict(
      pg_temp.try('{"p_process_after": "clock_timestamp() - interval ''1 day''"}', 'earlier')),
    'done',
    's5.2: a due time in the past is accepted');
select ok(
    (pg_temp.job('earlier')).claimable,
    's5.2: a job whose time has passed is claimable at once');
select is(
    pg_temp.try(format('{"p_process_after": "%s"}', p.value), 'bad_time') - 'problem',
    '{"refused": true, "reason": "invalid_argument", "argument": "p_process_after"}',
    's8.5: process_after ' || p.what || ' is refused')
  from (values ('infinity', '''infinity''::timestamptz'),
    ('-infinity', '''-infinity''::timestamptz'),
    ('beyond max_delay_seconds', 'clock_timestamp() + interval ''31536060 seconds''')) p(
    what,
    value);
select is(
    pg_temp.verdict(
      pg_temp.try('{"p_process_after": "clock_timestamp() + interval ''31535000 seconds''"}', 'far')),
    'done',
    's8.5: process_after within max_delay_seconds is accepted');
select is(
    pg_temp.verdict(
      pg_temp.try('{"p_process_after": "''4713-01-01 00:00:00+00 BC''::timestamptz"}', 'ancient')),
    'done',
    's8.5: the oldest timestamp is accepted');

select is(pg_temp.try(format('{"%s": %s}', p.argument, to_jsonb(p.value)), 'refused') - 'problem',
    jsonb_build_object('refused', true, 'reason', 'invalid_argument', 'argument', p.argument),
    format('s8.5: %s %s is an invalid argument', p.argument, p.what))
  from (values
    ('p_job_kind', 'NULL', 'null'),
    ('p_job_kind', 'empty', ''''''),
    ('p_job_kind', 'in capitals', '''Demo'''),
    ('p_job_kind', 'with a digit first', '''1demo'''),
    ('p_job_kind', 'of 64 characters', 'repeat(''k'', 64)'),
    ('p_job_kind', 'with a line end', 'E''demo\n'''),
    ('p_job_kind', 'default (reserved)', '''default'''),
    ('p_job_kind', 'lease_reaper (reserved)', '''lease_reaper'''),
    ('p_event_domain', 'NULL', 'null'),
    ('p_event_domain', 'empty', ''''''),
    ('p_event_domain', 'of 201 characters', 'repeat(''d'', 201)'),
    ('p_executor', 'NULL', 'null'),
    ('p_executor', 'with a control character', 'E''dot\x07iu'''),
    ('p_idempotency_key', 'NULL', 'null'),
    ('p_idempotency_key', 'empty', ''''''),
    ('p_idempotency_key', 'of 201 characters', 'repeat(''k'', 201)'),
    ('p_idempotency_key', 'with a line end', 'E''a\nb'''),
    ('p_payload', 'NULL', 'null'),
    ('p_actor', 'with a control character', 'E''a\x1bb'''),
    ('p_actor', 'of 201 characters', 'repeat(''a'', 201)')) p(argument, what, value);
select is(
    pg_temp.try('{"p_actor": "''''"}', 'refused'),
    '{"refused": true, "reason": "actor_required"}',
    's8.5: an empty actor is actor_required');
select is(
    pg_temp.try('{"p_actor": "''  ''"}', 'refused'),
    '{"refused": true, "reason": "actor_required"}',
    's8.5: a blank actor is actor_required');
select is(
    pg_temp.verdict(pg_temp.try('{"p_job_kind": "repeat(''k'', 63)"}', 'long_kind')),
    'done',
    's8.5: a kind of 63 characters is accepted');
select is(
    pg_temp.verdict(
      pg_temp.try(
        '{"p_event_domain": "repeat(''ế'', 200)", "p_idempotency_key": "repeat(''😀'', 200)"}',
        'long_names')),
    'done',
    's8.5: names of 200 characters are accepted, whatever their bytes');
select is(
    pg_temp.try(
      '{"p_job_kind": "null", "p_event_domain": "null", "p_actor": "''''"}') ->> 'argument',
    'p_job_kind',
    's8.5: the first bad argument is the one that is named');

select is(
    pg_temp.verdict(pg_temp.try('{"p_executor": "''nobody''"}', 'refused')),
    'unknown_executor',
    's11.5: an executor that is not registered is refused');
insert into public.job_executor (executor, job_kind, enabled) values ('only_other', 'other', true),
  ('switched_off', '*', false);
select is(
    pg_temp.verdict(pg_temp.try('{"p_executor": "''only_other''"}', 'refused')),
    'unknown_executor',
    's11.5: an executor of another kind is refused');
select is(
    pg_temp.verdict(
      pg_temp.try('{"p_executor": "''only_other''", "p_job_kind": "''other''"}', 'other_kind')),
    'done',
    's11.5: an executor is accepted for its kind');
select is(
    pg_temp.verdict(pg_temp.try('{"p_executor": "''switched_off''"}', 'refused')),
    'unknown_executor',
    's11.5: an executor that is switched off is refused');

-- Signal, not data ------------------------------------------------------------------------------------

select is(
    pg_temp.verdict(pg_temp.try(format('{"p_payload": %s}', to_jsonb(p.value)), 'refused')),
    'payload_not_signal',
    'self_test: a payload that is ' || p.what || ' is no signal')
  from (values ('an array', '''[1]'''),
    ('a text', '''"x"'''),
    ('JSON null', '''null'''),
    ('a number', '''1'''),
    ('larger than 8192 bytes', 'jsonb_build_object(''a'', repeat(''x'', 8192))'),
    ('larger than 8192 bytes in letters of three', 'jsonb_build_object(''a'', repeat(''ế'', 2731))'),
    (
        'a vector of 65 numbers',
        '(select jsonb_build_object(''v'', jsonb_agg(n)) from generate_series(1, 65) n)'),
    (
        'a vector deep inside',
        '(select jsonb_build_object(''a'', jsonb_build_array(jsonb_build_object(''v'', jsonb_agg(n / 7.0)))) from generate_series(1, 65) n)')) p(
    what,
    value);
select is(
    pg_temp.verdict(
      pg_temp.try(format('{"p_payload": %s}', to_jsonb(p.value)), 'signal_' || p.place)),
    'done',
    'self_test: a payload with ' || p.what || ' is a signal')
  from (values (1, '8192 bytes', 'jsonb_build_object(''a'', repeat(''x'', 8192 - 9))'),
    (
        2,
        '64 numbers',
        '(select jsonb_build_object(''v'', jsonb_agg(n)) from generate_series(1, 64) n)'),
    (
        3,
        '65 texts',
        '(select jsonb_build_object(''v'', jsonb_agg(n::text)) from generate_series(1, 65) n)'),
    (4, 'nothing', '''{}''')) p(place, what, value);
-- As deep as its size allows: an answer, whichever, and no stack that overflows.
select ok(
    pg_temp.verdict(pg_temp.try(format('{"p_payload": %s}',
      to_jsonb(quote_literal(repeat('{"a":', 1300) || '1' || repeat('}', 1300)))), 'deep'))
      in ('done', 'payload_not_signal'),
    'self_test: a payload 1300 levels deep gets a coded answer');
select is(
    octet_length((pg_temp.job('signal_1')).payload::text),
    8192,
    'self_test: the payload of 8192 bytes was really that long');
select is(
    (select count(*)::int
       from public.job_queue q
      where q.idempotency_key in ('refused', 'bad_time', 'key_try')),
    0,
    's8.5: no refused enqueue left a job');

select * from finish();
rollback;
