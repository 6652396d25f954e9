-- Back-off (§8.2): strategy, base and cap from the configuration, jitter for each row, and no number
-- that makes a failure raise.
begin;
\ir lib/session.sql
select plan(57);

-- Fails a job at its n-th attempt: the delay that it got, in seconds.
create function pg_temp.delay(p_key text, p_attempts integer)
returns double precision
language plpgsql
as $$
declare
  v_answer jsonb;
begin
  perform pg_temp.hold(p_key);
  perform pg_temp.plant(format('update public.job_queue q set attempts = %s where q.idempotency_key = %L', p_attempts, p_key));
  v_answer := pg_temp.fail(p_key);
  if pg_temp.verdict(v_answer) <> 'done' then
    raise exception 'attempt % did not fail: %', p_attempts, v_answer;
  end if;
  return extract(epoch from (pg_temp.job(p_key)).process_after - (pg_temp.job(p_key)).last_error_at);
end
$$;

create function pg_temp.within(p_key text, p_attempts integer, p_seconds numeric)
returns text
language plpgsql
as $$
declare
  v_delay double precision;
begin
  v_delay := pg_temp.delay(p_key, p_attempts);
  -- A microsecond is what a timestamp can tell.
  if v_delay between 0.8 * p_seconds - 0.000001 and 1.2 * p_seconds + 0.000001 then
    return 'within';
  end if;
  return format('%s s', v_delay);
exception when others then
  return format('raw error %s: %s', sqlstate, sqlerrm);
end
$$;

select pg_temp.configure('queue.retry.max_attempts.default', '10000');

-- Each strategy's table --------------------------------------------------------------------------------

create temp table tables(strategy text, base int, cap int, attempts int, seconds numeric) on commit drop;
insert into tables values
  ('exponential', 30, 3600, 1, 30), ('exponential', 30, 3600, 2, 60), ('exponential', 30, 3600, 3, 120),
  ('exponential', 30, 3600, 4, 240), ('exponential', 30, 3600, 7, 1920), ('exponential', 30, 3600, 8, 3600),
  ('exponential', 30, 3600, 9, 3600), ('exponential', 10, 50, 3, 40), ('exponential', 10, 50, 4, 50),
  ('exponential', 7, 1000000, 5, 112), ('exponential', 100, 60, 1, 60),
  ('linear', 30, 3600, 1, 30), ('linear', 30, 3600, 2, 60), ('linear', 30, 3600, 3, 90),
  ('linear', 30, 3600, 120, 3600), ('linear', 30, 3600, 121, 3600), ('linear', 7, 1000, 5, 35),
  ('constant', 30, 3600, 1, 30), ('constant', 30, 3600, 9, 30), ('constant', 100, 60, 2, 60),
  -- A cap of 0 means constant.
  ('exponential', 30, 0, 1, 30), ('exponential', 30, 0, 9, 30), ('linear', 30, 0, 9, 30), ('constant', 30, 0, 9, 30),
  -- Far beyond what a power of two, an integer or an interval can hold.
  ('exponential', 30, 3600, 31, 3600), ('exponential', 30, 3600, 33, 3600), ('exponential', 30, 3600, 64, 3600),
  ('exponential', 30, 3600, 65, 3600), ('exponential', 30, 3600, 1024, 3600), ('exponential', 30, 3600, 1025, 3600),
  ('exponential', 30, 3600, 5000, 3600), ('linear', 30, 3600, 5000, 3600), ('constant', 30, 3600, 5000, 30),
  ('exponential', 31536000, 31536000, 5000, 31536000), ('linear', 31536000, 31536000, 5000, 31536000),
  ('exponential', 1, 31536000, 26, 31536000), ('exponential', 1, 1, 5000, 1), ('exponential', 31536000, 0, 5000, 31536000),
  ('linear', 2, 31536000, 9999, 19998);

create function pg_temp.tabled(t tables)
returns text
language plpgsql
as $$
begin
  perform pg_temp.configure(k.key, k.value)
     from (values ('queue.retry.backoff.strategy', t.strategy),
                  ('queue.retry.backoff.base_seconds', t.base::text),
                  ('queue.retry.backoff.cap_seconds', t.cap::text)) k(key, value)
     join public.dot_config c on c.key = k.key
    where c.value <> k.value;
  return pg_temp.within(format('%s_%s_%s_%s', t.strategy, t.base, t.cap, t.attempts), t.attempts, t.seconds);
end
$$;
select is(
    pg_temp.tabled(t),
    'within',
    format(
      's8.2: %s of base %s and cap %s waits 0.8 to 1.2 × %s s after attempt %s',
      t.strategy,
      t.base,
      t.cap,
      t.seconds,
      t.attempts))
  from tables t;
select is(
    pg_temp.answer(
      $$select public.fn_job_fail_transient(pg_temp.id('zero'), pg_temp.token('zero'), 'E', 'm')$$) ->> 'reason',
    'invalid_argument',
    's8.2: a failure of no job is no failure');
select pg_temp.configure('queue.retry.backoff.strategy', 'exponential');
select pg_temp.configure('queue.retry.backoff.base_seconds', '30');
select pg_temp.configure('queue.retry.backoff.cap_seconds', '3600');

-- Jitter -------------------------------------------------------------------------------------------------

select pg_temp.hold('jitter_' || n) from generate_series(1, 40) n;
select pg_temp.expire('jitter_' || n) from generate_series(1, 40) n;
select pg_temp.answer('select public.fn_job_lease_reaper()');
create temp table jitter on commit drop as
  select extract(epoch from q.process_after - q.last_error_at)::numeric as delay
    from public.job_queue q
   where q.job_kind like 'jitter\_%';
select is(
    (select count(*)::int from jitter j where j.delay between 23.999999 and 36.000001),
    40,
    's8.2: the reaper''s delays are within the same bounds');
select cmp_ok(
    (select count(distinct round(j.delay, 3))::int from jitter j),
    '>',
    35,
    's8.2: each row of one statement has its own jitter');
-- 40 draws that all fall into one half of the range: once in 10^11.
select ok(
    (select min(j.delay) < 30 and max(j.delay) > 30 from jitter j),
    's8.2: jitter goes both ways');
select ok((select max(j.delay) - min(j.delay) > 4 from jitter j), 's8.2: jitter uses its range');

select pg_temp.configure('queue.retry.backoff.cap_seconds', '40');
select pg_temp.delay('capped_' || n, 9) from generate_series(1, 40) n;
create temp table capped on commit drop as
  select extract(epoch from q.process_after - q.last_error_at)::numeric as delay
    from public.job_queue q
   where q.job_kind like 'capped\_%';
select ok(
    (select max(c.delay) > 40 and max(c.delay) <= 48.000001 from capped c),
    's8.2: jitter comes after the cap, so a delay may be 1.2 × cap');
select ok(
    (select count(distinct c.delay) from capped c) > 35,
    's8.2: capped delays do not pile up on one instant');
select pg_temp.configure('queue.retry.backoff.cap_seconds', '3600');

-- Bad values ------------------------------------------------------------------------------------------------

select is(
    pg_temp.verdict(
      pg_temp.answer(format('select public.fn_job_config_set(%L, %L, ''tester'')', v.key, v.value))),
    'invalid_argument',
    format('s8.2: %s = "%s" is refused where it is written', v.key, v.value))
  from (values ('queue.retry.backoff.strategy', 'fibonacci'),
    ('queue.retry.backoff.strategy', 'Exponential'),
    ('queue.retry.backoff.strategy', ''),
    ('queue.retry.backoff.base_seconds', '0'),
    ('queue.retry.backoff.base_seconds', '-1'),
    ('queue.retry.backoff.base_seconds', '1.5'),
    ('queue.retry.backoff.cap_seconds', '-1'),
    ('queue.retry.backoff.cap_seconds', '99999999999')) v(key, value);

-- A bad value that is there all the same: the default, never an error.
select pg_temp.hold('bad_strategy'), pg_temp.hold('bad_base'), pg_temp.hold('no_cap');
select pg_temp.plant(
    $$update public.dot_config c set value = 'fibonacci' where c.key = 'queue.retry.backoff.strategy'$$);
select is(
    pg_temp.fail('bad_strategy') ->> 'status_to',
    'retry_waiting',
    's8.2: a failure under an unknown strategy is recorded');
select pg_temp.plant(
    $$update public.dot_config c set value = 'exponential' where c.key = 'queue.retry.backoff.strategy'$$);
select pg_temp.plant(
    $$update public.dot_config c set value = 'soon' where c.key = 'queue.retry.backoff.base_seconds'$$);
select is(
    pg_temp.fail('bad_base') ->> 'status_to',
    'retry_waiting',
    's8.2: a failure under a base that is no number is recorded');
select pg_temp.plant(
    $$update public.dot_config c set value = '30' where c.key = 'queue.retry.backoff.base_seconds'$$);
select pg_temp.plant(
    $$delete from public.dot_config c where c.key = 'queue.retry.backoff.cap_seconds'$$);
select pg_temp.set('no_cap', $$attempts = 20$$);
select pg_temp.fail('no_cap');
select ok(
    (pg_temp.job('no_cap')).process_after between clock_timestamp() + interval '2879 seconds' and clock_timestamp(
      ) + interval '4320 seconds',
    's8.2: a missing cap is the default cap, not no cap');

select * from finish();
rollback;
