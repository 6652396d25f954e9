-- Refusals (§8.5): which reason comes first, in which form, with which effect (none), and what is
-- recorded of it (Điều 31).
begin;
\ir lib/session.sql
\ir lib/functions.sql
select plan(124);

-- NULL in every argument at once: a coded answer, never a raw error.
create function pg_temp.all_null(p_fn text)
returns text
language sql
as $$
  select coalesce(string_agg('null::' || format_type(t.oid, null), ', ' order by a.place), '')
    from pg_proc p
   cross join lateral unnest(p.proargtypes::oid[]) with ordinality a(type, place)
    join pg_type t on t.oid = a.type
   where p.pronamespace = 'public'::regnamespace
     and p.proname = p_fn
$$;
select is(nullif(pg_temp.surface_call(s.fn, pg_temp.all_null(s.fn)) ->> 'raised', 'D4500'), null,
    format('s8.5: %s with NULL in every argument raises no raw error', s.fn))
  from surface s order by s.place;
select is(
    pg_temp.verdict(pg_temp.surface_call(s.fn, pg_temp.all_null(s.fn))),
    'invalid_argument',
    format('s8.5: %s with NULL where nothing is the default is refused', s.fn))
  from surface s
 where s.fn not in (
   'fn_job_lease_reaper',
   'fn_job_promote_due',
   'fn_dead_letter_health',
   'fn_job_seed')
 order by s.place;

-- An id that names nothing.
select is(
    pg_temp.verdict(pg_temp.surface_call(s.fn, s.arguments)),
    case
      when s.fn like '%dead_letter_triage%' or s.fn like '%dry_run%' then 'dead_letter_not_found'
      else 'job_not_found'
    end,
    format('s8.5: %s of what does not exist is refused', s.fn))
  from surface s
 where s.arguments like 'gen_random_uuid()%'
 order by s.place;

-- Precedence on the row ------------------------------------------------------------------------------

create temp table states(place int, state text) on commit drop;
insert into states values (1, 'queued'), (2, 'leased'), (3, 'in_progress'), (4, 'retry_waiting'),
  (5, 'succeeded'), (6, 'dead_letter'), (7, 'cleaned'), (8, 'expired');
create temp table lease_calls(place int, fn text, more text) on commit drop;
insert into lease_calls values
  (1, 'fn_job_lease_renew', ''), (2, 'fn_job_progress', ''), (3, 'fn_job_succeed', ''),
  (4, 'fn_job_fail_transient', ', ''E'', ''m'''), (5, 'fn_job_fail_permanent', ', ''E'', ''m''');

-- A job in that state, under a key of its own.
create function pg_temp.bring(p_key text, p_state text)
returns void
language plpgsql
as $$
begin
  perform pg_temp.enqueue(p_key);
  if p_state = 'queued' then
    return;
  end if;
  perform pg_temp.claim(p_key);
  case p_state
    when 'in_progress' then perform pg_temp.call('fn_job_progress', p_key);
    when 'retry_waiting' then perform pg_temp.fail(p_key);
    when 'succeeded' then perform pg_temp.call('fn_job_succeed', p_key);
    when 'dead_letter' then perform pg_temp.call('fn_job_fail_permanent', p_key, '''E'', ''m''');
    when 'expired' then perform pg_temp.expire(p_key);
    when 'cleaned' then
      perform pg_temp.call('fn_job_succeed', p_key);
      perform pg_temp.plant(format('update public.job_queue q set status = ''cleaned'' where q.idempotency_key = %L', p_key));
    else null;
  end case;
end
$$;
select pg_temp.bring('state_' || t.state, t.state) from states t order by t.place;

select is(
    pg_temp.verdict(
      pg_temp.answer(
        format(
          'select public.%I(%L, gen_random_uuid()%s)',
          c.fn,
          pg_temp.id('state_' || t.state),
          c.more))),
    case
      when t.state in ('succeeded', 'dead_letter', 'cleaned') then 'already_terminal'
      when t.state in ('queued', 'retry_waiting') then 'not_leased'
      else 'lease_token_mismatch'
    end,
    format('s8.5: %s with a foreign token on a job that is %s', c.fn, t.state))
  from lease_calls c, states t
 order by c.place, t.place;

-- Arguments before rows, in their order; the actor last.
select is(
    pg_temp.answer(format('select public.%I(null, null%s)', c.fn, c.more)) ->> 'argument',
    'p_job_id',
    format('s8.5: %s names its first bad argument', c.fn))
  from lease_calls c
 order by c.place;
select is(
    pg_temp.verdict(
      pg_temp.answer(
        format(
          'select public.%I(%L, gen_random_uuid()%s, %L)',
          c.fn,
          pg_temp.id('state_succeeded'),
          c.more,
          ' '))),
    'actor_required',
    format('s8.5: %s looks at its arguments before the row', c.fn))
  from lease_calls c
 where c.fn <> 'fn_job_lease_renew'
 order by c.place;
select is(
    pg_temp.answer(
      format(
        'select public.%I(%L, gen_random_uuid()%s, %L)',
        c.fn,
        pg_temp.id('state_leased'),
        c.more,
        repeat('a', 201))) ->> 'argument',
    'p_actor',
    format('s8.5: %s refuses an actor of 201 characters', c.fn))
  from lease_calls c
 where c.fn <> 'fn_job_lease_renew'
 order by c.place;
select is(
    pg_temp.answer(
      format(
        'select public.fn_job_fail_permanent(%L, gen_random_uuid(), ''E'', ''m'', null, %L)',
        pg_temp.id('state_leased'),
        repeat('a', 201))) ->> 'argument',
    'p_acknowledged_by',
    's8.5: an acknowledgement by a name of 201 characters is refused');

-- The substrate flag comes before everything; a bad configuration after the arguments.
select pg_temp.configure('queue.job_substrate.enabled', 'false');
select is(
    pg_temp.verdict(pg_temp.surface_call(s.fn, pg_temp.all_null(s.fn))),
    'substrate_disabled',
    format('s8.5: while the substrate is off %s says so before anything else', s.fn))
  from surface s
 where s.gated and s.fn not like 'fn\_job\_claim%'
 order by s.place;
select pg_temp.configure('queue.job_substrate.enabled', 'true');

select pg_temp.plant(
    $$update public.dot_config c set value = 'soon' where c.key = 'queue.lease.ttl_seconds.default'$$);
select is(
    pg_temp.rows($$select * from public.fn_job_claim(array['x'], 'n', 'w')$$) -> 'detail',
    '{"refused": true, "reason": "config_invalid", "key": "queue.lease.ttl_seconds.default"}',
    's8.5: a claim under a bad lease length raises config_invalid with the key');
select is(
    pg_temp.rows($$select * from public.fn_job_claim('{}', 'n', 'w')$$) -> 'detail' ->> 'reason',
    'invalid_argument',
    's8.5: a bad argument comes before a bad configuration');
select pg_temp.plant(
    $$update public.dot_config c set value = '600' where c.key = 'queue.lease.ttl_seconds.default'$$);
select pg_temp.plant(
    $$update public.dot_config c set value = 'soon' where c.key = 'queue.enqueue.dedupe_seconds'$$);
select is(
    pg_temp.enqueue('under_bad_config'),
    '{"refused": true, "reason": "config_invalid", "key": "queue.enqueue.dedupe_seconds"}',
    's8.5: an enqueue under a bad configuration is refused with the key');
select pg_temp.plant(
    $$update public.dot_config c set value = '300' where c.key = 'queue.enqueue.dedupe_seconds'$$);

-- The form of a refusal --------------------------------------------------------------------------------

select is(
    pg_temp.call('fn_job_succeed', 'state_retry_waiting') -> 'refused',
    'true',
    's8.5: a refusal says refused: true');
select is(
    jsonb_typeof(pg_temp.answer('select public.fn_job_succeed(null, null)') -> 'problem'),
    'string',
    's8.5: an invalid argument says what is wrong with it');
select is(
    pg_temp.rows($$select * from public.fn_job_claim(null, 'n', 'w')$$) ->> 'raised',
    'D4500',
    's8.5: a function that returns rows raises D4500');
select is(
    pg_temp.rows($$select * from public.fn_job_claim_batch(null, 'n', 'w')$$) ->> 'raised',
    'D4500',
    's8.5: the batch claim too');

-- Its effect, and what is recorded of it ------------------------------------------------------------------

select pg_temp.mark();
create temp table before_refusals on commit drop as select pg_temp.state() as state;
select pg_temp.answer(
    format(
      'select public.%I(%L, gen_random_uuid()%s)',
      c.fn,
      pg_temp.id('state_' || t.state),
      c.more))
  from lease_calls c, states t
 order by c.place, t.place;
select is(pg_temp.state(), b.state, 's8.5: forty refused lease calls change nothing')
  from before_refusals b;
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint and r.refused),
    40,
    'd31: each of them is one audit row');
select is(
    (select count(distinct (r.command, r.job_id))::int
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint),
    40,
    'd31: each names the command and the job');
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint
        and (r.status_from is not null or r.status_to is not null)),
    0,
    'd31: a refusal is no transition');

select pg_temp.mark();
select pg_temp.answer(
    $$select public.fn_job_succeed(gen_random_uuid(), gen_random_uuid(), 'somebody')$$);
select is(
    (select jsonb_build_array(r.actor, r.session_role, r.refused, r.reason)
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint),
    jsonb_build_array('somebody', session_user, true, 'job_not_found'),
    'd31: a refusal is recorded with who asked, as whom, and why');
select pg_temp.mark();
select pg_temp.surface_call(s.fn, pg_temp.all_null(s.fn)) from surface s where s.volatility = 's';
select is(pg_temp.audited(), '', 'd31: a STABLE function records no refusal');
select pg_temp.rows($$select * from public.fn_job_claim(null, 'n', 'w')$$);
select is(pg_temp.audited(), '', 'd31: a refusal that is raised leaves no row');
savepoint caller;
select pg_temp.answer('select public.fn_job_succeed(gen_random_uuid(), gen_random_uuid())');
rollback to savepoint caller;
select is(pg_temp.audited(), '', 'd31: a refusal whose caller rolls back leaves no row');

select * from finish();
rollback;
