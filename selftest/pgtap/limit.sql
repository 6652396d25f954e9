-- Limits hold under any plan (§5.2, §10.1): a subquery with LIMIT … FOR UPDATE SKIP LOCKED that the
-- planner runs again for each outer row takes more than it was told to. So every limit is tried under
-- planner settings that force other joins, and under generic plans.
begin;
\ir lib/session.sql
-- Settings that forbid a plan price it out of reach, and such a price would call for compiled code.
set local jit = off;
select plan(57);

-- Groups of settings; one that this server does not know is left out.
create temp table hostile(place int, what text, settings text[]) on commit drop;
insert into hostile values (1, 'the planner''s own choice', '{}'),
  (
      2,
      'nested loops alone',
      '{enable_hashjoin=off,enable_mergejoin=off,enable_hashagg=off,enable_sort=off,enable_material=off,enable_memoize=off}'),
  (3, 'hash joins alone', '{enable_nestloop=off,enable_mergejoin=off}'),
  (4, 'merge joins alone', '{enable_nestloop=off,enable_hashjoin=off}'),
  (
      5,
      'sequential scans alone',
      '{enable_indexscan=off,enable_bitmapscan=off,enable_indexonlyscan=off,enable_tidscan=off}'),
  (6, 'no sequential scan', '{enable_seqscan=off}'),
  (7, 'generic plans', '{plan_cache_mode=force_generic_plan}'),
  (
      8,
      'generic plans and nested loops',
      '{plan_cache_mode=force_generic_plan,enable_hashjoin=off,enable_mergejoin=off,enable_material=off,enable_memoize=off,enable_sort=off}'),
  (9, 'custom plans', '{plan_cache_mode=force_custom_plan}');

create function pg_temp.set_all(p_settings text[])
returns void
language plpgsql
as $$
declare
  v_setting text;
begin
  discard plans;
  foreach v_setting in array p_settings loop
    begin
      perform set_config(split_part(v_setting, '=', 1), split_part(v_setting, '=', 2), true);
    exception when undefined_object then
      null;
    end;
  end loop;
end
$$;

create function pg_temp.reset_all(p_settings text[])
returns void
language plpgsql
as $$
declare
  v_setting text;
begin
  foreach v_setting in array p_settings loop
    begin
      execute format('reset %I', split_part(v_setting, '=', 1));
    exception when undefined_object then
      null;
    end;
  end loop;
end
$$;

create function pg_temp.waiting(p_kind text)
returns bigint
language sql
as $$
  select count(*)
    from public.job_queue q
   where q.job_kind like p_kind || '%'
     and q.status = 'retry_waiting'
$$;

-- One round: 20 jobs of two kinds; what was granted and what was really taken, call by call.
create function pg_temp.round(p_place int, p_settings text[])
returns jsonb
language plpgsql
as $$
declare
  v_kind text := 'limit_' || p_place;
  v_seen jsonb := '{}';
begin
  perform pg_temp.enqueue(format('%s_%s', v_kind, n), v_kind || case when n > 16 then '_b' else '' end)
     from generate_series(1, 20) n;
  perform pg_temp.set_all(p_settings);
  v_seen := v_seen || jsonb_build_object(
    'one', (select jsonb_agg(pg_temp.taken(v_kind, format('public.fn_job_claim(array[%L], ''n'', ''w'')', v_kind)))
              from generate_series(1, 7)),
    'batch', pg_temp.taken(v_kind, format('public.fn_job_claim_batch(array[%L], ''n'', ''w'', null, 3)', v_kind)),
    'kinds', pg_temp.taken(v_kind, format('public.fn_job_claim_batch(array[%L, %L], ''n'', ''w'', null, 4)', v_kind, v_kind || '_b')));
  perform pg_temp.expire(q.idempotency_key) from public.job_queue q where q.job_kind like v_kind || '%' and q.status = 'leased';
  v_seen := v_seen || jsonb_build_object(
    'reaped', pg_temp.answer('select public.fn_job_lease_reaper(5)') -> 'reaped');
  -- A statement of its own: it has to see what the call before it did.
  v_seen := v_seen || jsonb_build_object('waiting', pg_temp.waiting(v_kind));
  perform pg_temp.make_due(q.idempotency_key) from public.job_queue q where q.job_kind like v_kind || '%' and q.status = 'retry_waiting';
  v_seen := v_seen || jsonb_build_object(
    'promoted', pg_temp.answer('select public.fn_job_promote_due(2)') -> 'promoted');
  v_seen := v_seen || jsonb_build_object('still_waiting', pg_temp.waiting(v_kind));
  perform pg_temp.reset_all(p_settings);
  delete from public.job_queue q where q.job_kind like v_kind || '%';
  delete from public.dot_iu_runtime_lease l;
  return v_seen;
end
$$;

-- Rows returned / rows that became leased.
create function pg_temp.taken(p_kind text, p_call text)
returns text
language plpgsql
as $$
declare
  v_before int := (select count(*) from public.job_queue q where q.job_kind like p_kind || '%' and q.status = 'leased');
  v_rows int := jsonb_array_length(pg_temp.rows('select * from ' || p_call));
begin
  return format('%s/%s', v_rows,
    (select count(*) from public.job_queue q where q.job_kind like p_kind || '%' and q.status = 'leased') - v_before);
end
$$;

create temp table seen on commit drop as
  select h.place, h.what, pg_temp.round(h.place, h.settings) as seen from hostile h order by h.place;

select is(
    seen -> 'one',
    '["1/1", "1/1", "1/1", "1/1", "1/1", "1/1", "1/1"]',
    's5.2: claims of one take one, seven times in a session, under ' || what)
  from seen;
select is(seen ->> 'batch', '3/3', 's10.1: a claim of 3 takes 3 under ' || what) from seen;
select is(seen ->> 'kinds', '4/4', 's10.1: a claim of 4 of two kinds takes 4 under ' || what)
  from seen;
select is(
    format('%s %s', seen -> 'reaped', seen -> 'waiting'),
    '5 5',
    's8.3: a reaper limited to 5 reaps 5 under ' || what)
  from seen;
select is(
    format('%s %s', seen -> 'promoted', seen -> 'still_waiting'),
    '2 3',
    's8.1: a promoter limited to 2 promotes 2 under ' || what)
  from seen;

-- Limits that are none -----------------------------------------------------------------------------------

select pg_temp.enqueue('plenty_' || n, 'plenty') from generate_series(1, 30) n;
select is(
    pg_temp.rows(
      format(
        $$select * from public.fn_job_claim_batch(array['plenty'], 'n', 'w', null, %s)$$,
        p.value)) -> 'detail' ->> 'argument',
    'p_limit',
    's10.1: a claim of ' || p.value || ' is refused')
  from (values ('0'), ('-1'), ('1001'), ('2147483647'), ('-2147483648')) p(value);
select is(
    (select count(*)::int
       from public.job_queue q
      where q.job_kind = 'plenty' and q.status <> 'queued'),
    0,
    's10.1: a claim with a bad limit takes nothing');
select is(
    jsonb_array_length(
      pg_temp.rows(
        $$select * from public.fn_job_claim_batch(array['plenty'], 'n', 'w', null, null)$$)),
    1,
    's10.1: a claim limited to NULL takes one, the default');
select is(
    jsonb_array_length(
      pg_temp.rows($$select * from public.fn_job_claim_batch(array['plenty'], 'n', 'w')$$)),
    1,
    's10.1: a claim without a limit takes one, the default');
select is(
    jsonb_array_length(
      pg_temp.rows(
        $$select * from public.fn_job_claim_batch(array['plenty'], 'n', 'w', null, 1000)$$)),
    28,
    's10.1: a claim of 1000 takes what there is');
select is(
    pg_temp.answer(format('select public.fn_job_lease_reaper(%s)', p.value)) ->> 'argument',
    'p_limit',
    's8.3: a reaper limited to ' || p.value || ' is refused')
  from (values ('0'), ('-1'), ('100001')) p(value);

select * from finish();
rollback;
