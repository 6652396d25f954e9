-- The lease (§8.3): token, end, renewal, mirror, and the reaper that takes back what has expired.
begin;
\ir lib/session.sql
select plan(112);

-- The mirror's token, beginning and end, beside the job's own.
create function pg_temp.mirrored(p_key text)
returns boolean
language sql
as $$
  select count(*) = 1
    from public.dot_iu_runtime_lease l
    join public.job_queue q on l.lease_name = 'job:' || q.job_id
   where q.idempotency_key = p_key
     and l.lease_token = q.lease_token
     and l.lease_holder = q.lease_holder
     and l.expires_at = q.leased_until
$$;

create function pg_temp.has_mirror(p_key text)
returns boolean
language sql
as $$
  select exists (
    select 1 from public.dot_iu_runtime_lease l where l.lease_name = 'job:' || pg_temp.id(p_key)
  )
$$;

-- Token ---------------------------------------------------------------------------------------------

select pg_temp.hold('turns');
create temp table first_turn on commit drop as select pg_temp.token('turns') as token;
select pg_temp.fail('turns');
select pg_temp.make_due('turns');
select pg_temp.claim('turns');
select isnt(
    (pg_temp.job('turns')).lease_token,
    t.token,
    's8.3: each claim of a job has a token of its own')
  from first_turn t;
select is(
    (pg_temp.job('turns')).ended_token,
    t.token,
    's7: the token of the lease that ended last is kept apart')
  from first_turn t;

-- Every lease function with the token of an earlier lease, while another worker holds the job.
create temp table calls(fn text, more text) on commit drop;
insert into calls values
  ('fn_job_lease_renew', ''), ('fn_job_progress', ''), ('fn_job_succeed', ''),
  ('fn_job_fail_transient', ', ''E'', ''m'''), ('fn_job_fail_permanent', ', ''E'', ''m''');

create function pg_temp.call_with(p_fn text, p_key text, p_token uuid, p_more text)
returns jsonb
language sql
as $$
  select pg_temp.answer(
    format('select public.%I(%L::uuid, %L::uuid%s)', p_fn, pg_temp.id(p_key), p_token, p_more))
$$;

create temp table before_zombie on commit drop as select pg_temp.state() as state;
select is(
    pg_temp.verdict(pg_temp.call_with(c.fn, 'turns', gen_random_uuid(), c.more)),
    'lease_token_mismatch',
    format('s7: %s with a foreign token is refused', c.fn))
  from calls c;
-- The old token ended its lease by fn_job_fail_transient: that call alone is told so, once more.
select is(
    pg_temp.verdict(pg_temp.call_with(c.fn, 'turns', t.token, c.more)),
    case c.fn when 'fn_job_fail_transient' then 'done' else 'lease_token_mismatch' end,
    format('s7: %s with the token of an earlier lease changes nothing', c.fn))
  from calls c, first_turn t;
select is(
    pg_temp.call_with(
      'fn_job_fail_transient',
      'turns',
      t.token,
      ', ''E'', ''m''') ->> 'already_applied',
    'true',
    's7: the call that ended the earlier lease is told that it was applied')
  from first_turn t;
select is(
    pg_temp.answer(
      format('select public.%I(%L::uuid, null%s)', c.fn, pg_temp.id('turns'), c.more)) ->> 'argument',
    'p_lease_token',
    format('s7: %s without a token is refused', c.fn))
  from calls c;
select is(pg_temp.state(), b.state, 's7: no zombie changed anything') from before_zombie b;

-- End and renewal -----------------------------------------------------------------------------------

select pg_temp.hold('renewed', 100);
select pg_temp.age('renewed', 40);
select pg_temp.mark();
create temp table renewal on commit drop as
  select clock_timestamp() as before,
         pg_temp.call('fn_job_lease_renew', 'renewed', '100') as answer, clock_timestamp() as after;
select is(
    r.answer - 'leased_until',
    jsonb_build_object('refused', false, 'job_id', pg_temp.id('renewed'), 'status_from', 'leased',
      'status_to', 'leased', 'attempts', 1),
    's8.3: a renewal answers as every lease call does')
  from renewal r;
select ok(
    (r.answer ->> 'leased_until')::timestamptz between r.before + interval '100 seconds' and r.after + interval '100 seconds',
    's8.3: a renewed lease ends its length after the moment of the call')
  from renewal r;
select is(
    (pg_temp.job('renewed')).leased_until,
    (r.answer ->> 'leased_until')::timestamptz,
    's8.3: the row has the end that was answered')
  from renewal r;
select ok(pg_temp.mirrored('renewed'), 's8.3: a renewal moves the mirror');
select is(pg_temp.audited(), '', 'd35: a renewal writes no audit row');
select is(
    pg_temp.verdict(pg_temp.call('fn_job_lease_renew', 'renewed', '5')),
    'done',
    's8.3: a renewal by less than is left is no error');
select is(
    (pg_temp.job('renewed')).leased_until,
    (r.answer ->> 'leased_until')::timestamptz,
    's8.3: a renewal never shortens a lease')
  from renewal r;
select is(
    pg_temp.verdict(pg_temp.call('fn_job_lease_renew', 'renewed', 'null')),
    'done',
    's8.3: a renewal without a length is done');
select ok((pg_temp.job('renewed')).leased_until > clock_timestamp() + interval '590 seconds',
  's8.3: a renewal without a length takes the configured one');
select is(
    pg_temp.call('fn_job_lease_renew', 'renewed', v.ttl) ->> 'argument',
    'p_lease_ttl_seconds',
    's8.3: a renewal by ' || v.ttl || ' s is refused')
  from (values ('0'), ('-1'), ('86401'), ('2147483647')) v(ttl);

-- Two lengths side by side.
select pg_temp.hold('short', 60);
select pg_temp.hold('long', 3600);
select pg_temp.age('short', 61);
select pg_temp.age('long', 61);
select is(
    pg_temp.answer('select public.fn_job_lease_reaper()') ->> 'reaped',
    '1',
    's8.3: of two leases the one that has expired is reaped');
select is(
    format('%s %s', (pg_temp.job('short')).status, (pg_temp.job('long')).status),
    'retry_waiting leased',
    's8.3: leases of two lengths live side by side');

-- The longest hold.
select pg_temp.hold('held', 1000);
select pg_temp.set('held', $$leased_at = clock_timestamp() - interval '604800 seconds' + interval '2000 seconds', leased_until = clock_timestamp() + interval '100 seconds'$$);
select is(
    pg_temp.verdict(pg_temp.call('fn_job_lease_renew', 'held', '86400')),
    'done',
    's8.3: a renewal up to the longest hold is done');
select is(
    (pg_temp.job('held')).leased_until,
    (pg_temp.job('held')).leased_at + interval '604800 seconds',
    's8.3: no renewal goes beyond max_hold_seconds after the claim');
select is(
    pg_temp.verdict(pg_temp.call('fn_job_lease_renew', 'held', '86400')),
    'lease_held_too_long',
    's8.3: a renewal that extends nothing because of the longest hold is refused');
select is(
    pg_temp.verdict(pg_temp.call('fn_job_progress', 'held')),
    'done',
    's8.3: lease_held_too_long is for renewals only');
select is(
    pg_temp.verdict(pg_temp.call('fn_job_succeed', 'held')),
    'done',
    's8.3: a job that was held too long may still succeed');

-- Expired, not reaped ----------------------------------------------------------------------------------

select pg_temp.hold('expired_' || c.fn) from calls c;
select pg_temp.expire('expired_' || c.fn) from calls c;
create temp table before_expired on commit drop as select pg_temp.state() as state;
select is(
    pg_temp.verdict(
      pg_temp.call_with(c.fn, 'expired_' || c.fn, pg_temp.token('expired_' || c.fn), c.more)),
    'lease_expired',
    format('s8.3: %s with the right token of an expired lease is refused', c.fn))
  from calls c;
select is(
    pg_temp.state(),
    b.state,
    's8.3: a call on an expired lease changes nothing, as if the reaper had come')
  from before_expired b;

-- Progress ------------------------------------------------------------------------------------------------

select pg_temp.hold('going', 50);
create temp table going on commit drop as select (pg_temp.job('going')).leased_until as until;
select pg_temp.mark();
select is(
    pg_temp.call('fn_job_progress', 'going') - 'leased_until',
    jsonb_build_object('refused', false, 'job_id', pg_temp.id('going'), 'status_from', 'leased',
      'status_to', 'in_progress', 'attempts', 1),
    's6.7: progress moves leased to in_progress');
select is(
    pg_temp.call('fn_job_progress', 'going') ->> 'status_from',
    'in_progress',
    's6.7: progress again stays in progress');
select is((pg_temp.job('going')).leased_until, g.until, 's8.3: progress does not extend the lease')
  from going g;
select ok(pg_temp.mirrored('going'), 's8.3: progress leaves the mirror as it is');
select is(
    pg_temp.audited(),
    'leased>in_progress, in_progress>in_progress',
    'd35: each progress is one audit row');

-- The end of a lease -----------------------------------------------------------------------------------

create temp table endings(key text, fn text, more text, status text, audit text, extra text) on commit drop;
insert into endings values (
  'end_succeed',
  'fn_job_succeed',
  '',
  'succeeded',
  'leased>in_progress, in_progress>succeeded',
  ''),
  (
      'end_transient',
      'fn_job_fail_transient',
      '''E'', ''m''',
      'retry_waiting',
      'leased>retry_waiting',
      'process_after'),
  (
      'end_permanent',
      'fn_job_fail_permanent',
      '''E'', ''m''',
      'dead_letter',
      'leased>dead_letter',
      'dead_letter_id');
select pg_temp.hold(e.key) from endings e;
create temp table ended on commit drop as
  select e.*, pg_temp.call(e.fn, e.key, e.more) as answer from endings e;
select is(
    jsonb_build_array(
      d.answer -> 'refused',
      d.answer -> 'job_id',
      d.answer -> 'status_from',
      d.answer -> 'status_to'),
    jsonb_build_array(false, pg_temp.id(d.key), 'leased', d.status),
    format('s6.7: %s ends the lease as %s', d.fn, d.status))
  from ended d;
select is(pg_temp.keys(d.answer - d.extra), 'attempts job_id refused status_from status_to',
    format('s8.3: %s answers with the documented keys', d.fn))
  from ended d;
select ok(
    d.extra = '' or d.answer ->> d.extra is not null,
    format('s8.3: %s answers with its own key beside them', d.fn))
  from ended d;
select is(
    (select num_nulls(q.lease_name, q.lease_holder, q.lease_token, q.leased_at, q.leased_until)
       from public.job_queue q
      where q.idempotency_key = d.key),
    5,
    format('s6.7: %s clears all five lease columns', d.fn))
  from ended d;
select is(
    (pg_temp.job(d.key)).ended_by,
    d.fn,
    format('s7: %s is remembered as what ended the lease', d.fn))
  from ended d;
select ok(not pg_temp.has_mirror(d.key), format('s8.3: the mirror is gone after %s', d.fn))
  from ended d;
select is(
    pg_temp.audited(pg_temp.id(d.key)),
    'null>queued, queued>leased, ' || d.audit,
    format('d35: %s shows every step', d.fn))
  from ended d;
select is(
    (pg_temp.job(d.key)).finished_at is not null,
    d.status in ('succeeded', 'dead_letter'),
    format('s6.7: finished_at after %s', d.fn))
  from ended d;

-- Asked again: an answer that was lost.
select pg_temp.mark();
create temp table before_again on commit drop as select pg_temp.state() as state;
select is(pg_temp.call(d.fn, d.key, d.more), d.answer || '{"already_applied": true}',
    format('s7: %s asked again with the token that ended the lease answers the same', d.fn))
  from ended d;
select is(pg_temp.audited(), '', 'd35: an ending that was already applied writes no audit row');
-- Another ending with that token is not the same call.
select is(
    pg_temp.verdict(
      pg_temp.call(
        case d.fn when 'fn_job_succeed' then 'fn_job_fail_transient' else 'fn_job_succeed' end,
        d.key,
        case d.fn when 'fn_job_succeed' then '''E'', ''m''' else '' end)),
    case d.status when 'retry_waiting' then 'not_leased' else 'already_terminal' end,
    format('s7: another ending after %s is refused', d.fn))
  from ended d;
select is(pg_temp.verdict(pg_temp.call('fn_job_lease_renew', d.key)),
    case d.status when 'retry_waiting' then 'not_leased' else 'already_terminal' end,
    format('s8.3: a lease that %s ended is not renewed', d.fn))
  from ended d;
select is(pg_temp.state(), b.state, 's7: no call after the end changed anything')
  from before_again b;

-- The reaper --------------------------------------------------------------------------------------------

select pg_temp.hold('lost');
select pg_temp.call('fn_job_progress', 'lost');
select pg_temp.expire('lost');
select pg_temp.mark();
delete from public.event_pending;
create temp table reaped on commit drop as
  select clock_timestamp() as before,
         pg_temp.answer('select public.fn_job_lease_reaper()') as answer;
select is(
    pg_temp.keys(r.answer),
    'dead_lettered reaped refused runtime_leases_deleted skipped',
    's8.3: the reaper answers with the documented keys')
  from reaped r;
-- The five leases that were left expired above are reaped too.
select is(
    r.answer - 'runtime_leases_deleted',
    '{"refused": false, "reaped": 6, "dead_lettered": 0, "skipped": []}',
    's8.3: the reaper takes back what has expired')
  from reaped r;
select is(
    (select jsonb_build_array(q.status, q.claimable, q.attempts, q.last_error, q.ended_by,
         q.lease_token, q.leased_until)
       from public.job_queue q
      where q.idempotency_key = 'lost'),
    '["retry_waiting", false, 1, "lease_expired", "fn_job_lease_reaper", null, null]',
    's8.3: below the maximum an expired job waits for its retry, with last_error lease_expired');
select ok(
    (pg_temp.job('lost')).process_after between r.before + interval '24 seconds' and clock_timestamp(
      ) + interval '36 seconds',
    's8.3: an expired job waits for its back-off')
  from reaped r;
select ok((pg_temp.job('lost')).first_failed_at is not null, 's8.3: an expired lease is a failure');
select ok(not pg_temp.has_mirror('lost'), 's8.3: the reaper takes the mirror away');
select is(
    pg_temp.audited(pg_temp.id('lost')),
    'in_progress>retry_waiting',
    'd35: a reaped job is one audit row');
select is(
    (select jsonb_agg(distinct jsonb_build_array(e.event_domain, e.event_type, e.severity))
       from public.event_pending e),
    '[["system", "queue_lease_reaped", "warning"]]',
    's15.5: each reaped job is a warning event');
select is(
    (select count(*)::int
       from public.event_pending e
      where e.payload ->> 'job_id' = pg_temp.id('lost')::text),
    1,
    's15.5: a reaped job has one event, which names it');
select ok(
    (select bool_and(not e.payload ?| array['payload', 'lease_token', 'ended_token'])
       from public.event_pending e),
    's15.5: an event holds references only');
select is(
    pg_temp.verdict(pg_temp.call('fn_job_succeed', 'lost')),
    'not_leased',
    's8.3: the worker of a reaped job is refused');
select is(
    (select s.counts ->> 'reaped'
       from public.job_sweep s
      where s.command = 'fn_job_lease_reaper'
      order by s.sweep_id desc
      limit 1),
    '6',
    's15.5: a reaper call leaves its row in job_sweep');
select is(
    pg_temp.answer('select public.fn_job_lease_reaper()') ->> 'reaped',
    '0',
    's8.3: what is reaped is not reaped again');

select pg_temp.configure('queue.retry.max_attempts.last_one', '1');
select pg_temp.hold('last_one');
select pg_temp.expire('last_one');
select pg_temp.mark();
delete from public.event_pending;
select is(
    pg_temp.answer('select public.fn_job_lease_reaper()') - 'runtime_leases_deleted',
    '{"refused": false, "reaped": 1, "dead_lettered": 1, "skipped": []}',
    's8.3: at the maximum the reaper kills');
select is(
    (pg_temp.job('last_one')).status,
    'dead_letter',
    's8.3: a job that always kills its worker ends dead');
select is(
    (select d.failure_code from public.job_dead_letter d where d.job_id = pg_temp.id('last_one')),
    'lease_expired_reaped_at_max_attempts',
    's8.3: the reaper''s dead letter has the documented failure code');
select is(
    (select string_agg(e.event_type, ' ' order by e.event_type)
       from public.event_pending e
      where e.payload ->> 'job_id' = pg_temp.id('last_one')::text),
    'queue_job_dead_lettered queue_lease_reaped',
    's15.5: a reaped job that dies has both events');
select is(
    pg_temp.audited(pg_temp.id('last_one')),
    'leased>dead_letter',
    'd35: a reaped job that dies is one audit row');
select ok(not pg_temp.has_mirror('last_one'), 's8.3: a reaped job that dies leaves no mirror');

-- Other rows of the lease table.
delete from public.dot_iu_runtime_lease;
select pg_temp.hold('mirror_behind');
insert into public.dot_iu_runtime_lease (
  lease_name,
  lease_holder,
  lease_token,
  acquired_at,
  expires_at) select n.name, 'someone', gen_random_uuid(), clock_timestamp() - interval '1 hour',
  clock_timestamp() + n.left_over
  from (values ('host_expired', interval '-1 second'),
    ('host_live', interval '1 hour'),
    ('job:' || gen_random_uuid(), interval '-1 second'),
    ('job:no-uuid', interval '-1 second')) n(name, left_over);
update public.dot_iu_runtime_lease l set expires_at = clock_timestamp() - interval '1 second'
 where l.lease_name = 'job:' || pg_temp.id('mirror_behind');
select is(
    pg_temp.answer('select public.fn_job_lease_reaper()') ->> 'runtime_leases_deleted',
    '3',
    's8.3: the reaper deletes expired leases of the runtime');
select is(
    (select string_agg(l.lease_name, ' ' order by l.lease_name) from public.dot_iu_runtime_lease l),
    'host_live job:' || pg_temp.id('mirror_behind'),
    's8.3: it keeps live ones, and a job''s mirror while that job holds its lease');

-- A row that cannot be written stops no other (§10.1), nor does it use up the limit.
create function pg_temp.refuse_poison()
returns trigger
language plpgsql
as $$
begin
  if new.idempotency_key like 'poison%' and new.status in ('retry_waiting', 'dead_letter') then
    raise exception 'poisoned' using errcode = 'P0007';
  end if;
  return new;
end
$$;
create trigger refuse_poison before update on public.job_queue for each row execute function pg_temp.refuse_poison(
  );
select pg_temp.hold('poison_' || n) from generate_series(1, 3) n;
select pg_temp.hold('healthy_' || n) from generate_series(1, 5) n;
select pg_temp.expire('poison_' || n) from generate_series(1, 3) n;
select pg_temp.expire('healthy_' || n) from generate_series(1, 5) n;
select pg_temp.mark();
create temp table around_poison on commit drop as
  select pg_temp.answer('select public.fn_job_lease_reaper(4)') as first, null::jsonb as second;
select is(
    p.first ->> 'reaped',
    '4',
    's10.1: rows that cannot be reaped do not count toward the limit')
  from around_poison p;
select is(
    (select jsonb_agg(distinct s.one) from jsonb_array_elements(p.first -> 'skipped') s(one)),
    (select jsonb_agg(
         jsonb_build_object(
           'job_id',
           q.job_id,
           'sqlstate',
           'P0007') order by jsonb_build_object('job_id', q.job_id, 'sqlstate', 'P0007'))
       from public.job_queue q
      where q.idempotency_key like 'poison%'),
    's10.1: each row that cannot be reaped is reported with its SQLSTATE')
  from around_poison p;
update around_poison set second = pg_temp.answer('select public.fn_job_lease_reaper(4)');
select is(
    format('%s %s', p.second -> 'reaped', jsonb_array_length(p.second -> 'skipped')),
    '1 3',
    's10.1: the next run goes on past them again')
  from around_poison p;
select is(
    (select count(*)::int
       from public.job_queue q
      where q.idempotency_key like 'healthy%' and q.status = 'retry_waiting'),
    5,
    's10.1: bad rows never starve good ones');
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
       join public.job_queue q using (job_id)
      where r.run_seq > current_setting('test.mark')::bigint and q.idempotency_key like 'poison%'),
    0,
    'd35: a row that was skipped has no audit row');
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
       join public.job_queue q using (job_id)
      where r.run_seq > current_setting('test.mark')::bigint and q.idempotency_key like 'healthy%'),
    5,
    'd35: each row that was reaped around it has exactly one');

select * from finish();
rollback;
