-- Bounded retry (§8.1) and what a failure leaves behind (§8.4, §8.5): how often a job runs, and that
-- the failure path takes any text.
begin;
\ir lib/session.sql
select plan(63);

-- Runs a job by the given ends until it is over: how it ended, after how many claims.
create function pg_temp.run_out(p_key text, p_path text[])
returns text
language plpgsql
as $$
declare
  v_runs int := 0;
  v_how text;
begin
  perform pg_temp.enqueue(p_key);
  while v_runs < 12 loop
    exit when pg_temp.claim(p_key) is null;
    v_runs := v_runs + 1;
    v_how := p_path[1 + (v_runs - 1) % cardinality(p_path)];
    case v_how
      when 'transient' then perform pg_temp.fail(p_key);
      when 'permanent' then perform pg_temp.call('fn_job_fail_permanent', p_key, '''E'', ''m''');
      when 'crash' then
        perform pg_temp.expire(p_key);
        perform pg_temp.answer('select public.fn_job_lease_reaper()');
      when 'crash in progress' then
        perform pg_temp.call('fn_job_progress', p_key);
        perform pg_temp.expire(p_key);
        perform pg_temp.answer('select public.fn_job_lease_reaper()');
    end case;
    if (pg_temp.job(p_key)).status = 'retry_waiting' then
      perform pg_temp.make_due(p_key);
    end if;
  end loop;
  return format('%s after %s', (pg_temp.job(p_key)).status, v_runs);
end
$$;

-- Number of runs: maximum × path ----------------------------------------------------------------------

create temp table paths(path text[], bounded boolean) on commit drop;
insert into paths values
  ('{transient}', true), ('{crash}', true), ('{crash in progress}', true),
  ('{transient,crash}', true), ('{permanent}', false);
create temp table maxima on commit drop as select m from generate_series(1, 5) m;
select pg_temp.configure(format('queue.retry.max_attempts.max_%s_%s', m, md5(path::text)), m::text)
  from maxima, paths;
select is(
    pg_temp.run_out(format('max_%s_%s', m, md5(path::text)), path),
    format('dead_letter after %s', case when bounded then m else 1 end),
    format(
      's8.1: with a maximum of %s a job that ends by %s runs %s',
      m,
      array_to_string(path, ' and '),
      case when bounded then m || ' times' else 'once' end))
  from maxima, paths;
select is(
    (select count(*)::int
       from public.job_dead_letter d
      where d.job_kind like 'max\_%' and d.resolved_at is null),
    25,
    's8.4: each of these jobs has one open dead letter');
select is(
    (select jsonb_agg(distinct d.attempts)
       from public.job_dead_letter d
      where d.job_kind = 'max_5_' || md5('{permanent}')),
    '[1]',
    's8.4: a dead letter keeps the true count of attempts after a permanent failure');
select is(
    (pg_temp.job('max_5_' || md5('{permanent}'))).attempts,
    5,
    's8.4: a permanent failure spends the whole budget of the job');
select is((pg_temp.job('max_3_' || md5('{crash}'))).attempts, 3, 's8.1: crashes count as attempts');

select is(
    pg_temp.run_out('by_default', '{transient}'),
    'dead_letter after 5',
    's8.1: without a kind''s own maximum the default is 5');
select pg_temp.configure('queue.retry.max_attempts.default', '1');
select is(
    pg_temp.run_out('no_retry', '{transient}'),
    'dead_letter after 1',
    's8.1: a default maximum of 1 disables retry');
select pg_temp.configure('queue.retry.max_attempts.default', '5');

-- The maximum changes while the job lives ----------------------------------------------------------------

select pg_temp.hold('lowered');
select pg_temp.fail('lowered');
select pg_temp.make_due('lowered');
select pg_temp.configure('queue.retry.max_attempts.lowered', '1');
select is(
    pg_temp.claim('lowered') ->> 'attempts',
    '2',
    's8.1: a job that waited when its maximum was lowered runs once more');
select is(
    pg_temp.fail('lowered') ->> 'status_to',
    'dead_letter',
    's8.1: and that run''s failure is its last');
select pg_temp.hold('raised');
select pg_temp.configure('queue.retry.max_attempts.raised', '1');
select pg_temp.configure('queue.retry.max_attempts.raised', '2');
select is(
    pg_temp.fail('raised') ->> 'status_to',
    'retry_waiting',
    's8.1: the maximum that counts is the one when the lease ends');
select pg_temp.hold('beyond');
select pg_temp.set('beyond', $$attempts = 9$$);
select is(pg_temp.call('fn_job_fail_permanent', 'beyond', '''E'', ''m''') ->> 'attempts', '9',
  's8.4: attempts beyond the maximum are not lowered by a permanent failure');

-- What a failure leaves --------------------------------------------------------------------------------------

select pg_temp.hold('failed');
select pg_temp.mark();
create temp table failure on commit drop as
  select clock_timestamp() as before,
         pg_temp.call(
           'fn_job_fail_transient',
           'failed',
           '''TIMEOUT'', ''no answer'', ''a_worker''') as answer, clock_timestamp() as after;
select is(
    f.answer - 'process_after',
    jsonb_build_object('refused', false, 'job_id', pg_temp.id('failed'), 'status_from', 'leased',
      'status_to', 'retry_waiting', 'attempts', 1),
    's8.5: a transient failure answers as every lease call does')
  from failure f;
select is(
    (f.answer ->> 'process_after')::timestamptz,
    (pg_temp.job('failed')).process_after,
    's8.1: the answer names the time of the retry')
  from failure f;
select ok(
    (pg_temp.job('failed')).last_error like '%TIMEOUT%'
      and (pg_temp.job('failed')).last_error like '%no answer%',
    's8.1: last_error holds code and message');
select ok(
    (pg_temp.job('failed')).last_error_at between f.before and f.after
      and (pg_temp.job('failed')).first_failed_at between f.before and f.after,
    's8.1: a failure is dated by the clock')
  from failure f;
select is(
    (select r.actor
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint),
    'a_worker',
    's8.1: the audit names who reported the failure');
create temp table first_failure on commit drop as
  select (pg_temp.job('failed')).first_failed_at as at;
select pg_temp.make_due('failed');
update first_failure set at = (pg_temp.job('failed')).first_failed_at;
select pg_temp.claim('failed');
select pg_temp.fail('failed');
select is(
    (pg_temp.job('failed')).first_failed_at,
    f.at,
    's8.1: first_failed_at is the first failure''s')
  from first_failure f;
select ok(
    (pg_temp.job('failed')).last_error_at > f.at,
    's8.1: last_error_at is the last failure''s')
  from first_failure f;
select is(
    (select r.actor
       from public.dot_iu_command_run r
      where r.job_id = pg_temp.id('failed')
      order by r.run_seq desc
      limit 1),
    'worker',
    's8.1: without an actor the lease holder is the one who failed');

-- Error texts may hold anything --------------------------------------------------------------------------------

create temp table texts(name text, code text, message text) on commit drop;
insert into texts values ('null', null, null), ('empty', '', ''), ('blank', '  ', '  '),
  ('quotes', '''"\', '''; drop table job_queue; --'), ('control', E'a\x01\x1b[31mb', E'x\x07\x7f'),
  ('unicode', 'mã_lỗi_ế😀', repeat('ế😀', 3000)),
  ('long', repeat('c', 1000000), repeat('m', 1000000)), ('json', '{"a": 1}', '{"a": ["b"]}'),
  ('format', '%s %I', '%%');
select pg_temp.configure('queue.retry.max_attempts.text_dead_' || t.name, '1') from texts t;
select pg_temp.hold('text_wait_' || t.name), pg_temp.hold('text_dead_' || t.name),
       pg_temp.hold('text_perm_' || t.name)
  from texts t;
select is(
    (select string_agg(
         coalesce(
           pg_temp.call(c.fn, c.key || t.name, format('%L, %L', t.code, t.message)) ->> 'status_to',
           'none'),
         ' ' order by c.place)
       from (values (1, 'fn_job_fail_transient', 'text_wait_'),
         (2, 'fn_job_fail_transient', 'text_dead_'),
         (3, 'fn_job_fail_permanent', 'text_perm_')) c(place, fn, key)),
    'retry_waiting dead_letter dead_letter',
    format('s8.5: a failure with %s texts is recorded on every path', t.name))
  from texts t;
select is(
    (select d.failure_code from public.job_dead_letter d where d.job_kind = 'text_perm_null'),
    'unspecified',
    's8.4: a failure without a code is unspecified');
select is(
    (select max(char_length(d.failure_code)) from public.job_dead_letter d),
    100,
    's8.4: a failure code is cut at 100 characters');
select is(
    (select max(char_length(d.failure_detail)) from public.job_dead_letter d),
    4000,
    's8.4: a failure detail is cut at 4000 characters');
select is(
    (select count(*)::int
       from public.job_dead_letter d
      where (
        d.failure_code || coalesce(d.failure_detail, '')) ~ '[\u0001-\u0008\u000e-\u001f\u007f]'),
    0,
    's8.5: no control character is stored in a dead letter');
select is(
    (select count(*)::int
       from public.job_queue q
      where q.last_error ~ '[\u0001-\u0008\u000e-\u001f\u007f]' or char_length(q.last_error) > 4200),
    0,
    's8.5: no control character, and no more than was documented, is stored in last_error');
select is(
    (select d.failure_code || '/' || d.failure_detail
       from public.job_dead_letter d
      where d.job_kind = 'text_perm_quotes'),
    '''"\/''; drop table job_queue; --',
    's8.4: quotes and backslashes are kept as they are');

-- An acknowledged failure (DP3-Q6) --------------------------------------------------------------------------------

select pg_temp.hold('acknowledged');
select pg_temp.configure('queue.refusal.acknowledgement_required', 'true');
select pg_temp.mark();
select is(
    pg_temp.call('fn_job_fail_permanent', 'acknowledged', '''E'', ''m''') ->> 'reason',
    'acknowledgement_required',
    's8.5: a permanent failure without an acknowledgement is refused where one is required');
select is(
    pg_temp.call('fn_job_fail_permanent', 'acknowledged', '''E'', ''m'', null, '' ''') ->> 'reason',
    'acknowledgement_required',
    's8.5: blanks acknowledge nothing');
select is(
    pg_temp.audited(pg_temp.id('acknowledged')),
    'refused acknowledgement_required, refused acknowledgement_required',
    'd31: each of these refusals is one audit row of the job');
select is(
    pg_temp.call(
      'fn_job_fail_permanent',
      'acknowledged',
      '''E'', ''m'', null, ''council''') ->> 'status_to',
    'dead_letter',
    's8.5: with an acknowledgement it is done');
select ok(
    (select r.detail::text like '%council%'
       from public.dot_iu_command_run r
      where r.job_id = pg_temp.id('acknowledged') and r.status_to = 'dead_letter'),
    'd31: the audit says who acknowledged');
select pg_temp.configure('queue.refusal.acknowledgement_required', 'false');

select * from finish();
rollback;
