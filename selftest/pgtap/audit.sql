-- The audit trail (Điều 35, §15.5): each change of a job is the composition of its audit rows, on every
-- path; replaying them rebuilds status and attempts; a lost event is seen, a lost audit row impossible.
begin;
\ir lib/session.sql
select plan(42);

-- Sees every change of a job row by itself, whatever function made it, and whoever that runs as.
create temp table seen(
  seen_seq bigint generated always as identity,
  job_id uuid,
  status_from text,
  status_to text,
  attempts int,
  call bigint
) on commit drop;
create function pg_temp.see()
returns trigger
language plpgsql
security definer
as $$
begin
  if tg_op = 'INSERT' then
    insert into pg_temp.seen (job_id, status_from, status_to, attempts, call)
    values (new.job_id, null, new.status, new.attempts, current_setting('test.call')::bigint);
  elsif new.status is distinct from old.status then
    insert into pg_temp.seen (job_id, status_from, status_to, attempts, call)
    values (new.job_id, old.status, new.status, new.attempts, current_setting('test.call')::bigint);
  end if;
  return null;
end
$$;
create trigger see after insert
  or update on public.job_queue for each row execute function pg_temp.see();
create temp table calls(call bigint, what text, run_from bigint, run_to bigint) on commit drop;
select set_config('test.call', '0', true);

-- Runs a query as one call: what it changed and what it recorded belong together.
create function pg_temp.watch(p_what text, p_query text)
returns jsonb
language plpgsql
as $$
declare
  v_call bigint := current_setting('test.call')::bigint + 1;
  v_from bigint := (select coalesce(max(r.run_seq), 0) from public.dot_iu_command_run r);
  v_answer jsonb;
begin
  perform set_config('test.call', v_call::text, true);
  v_answer := pg_temp.answer(p_query);
  insert into pg_temp.calls
  values (v_call, p_what, v_from, (select coalesce(max(r.run_seq), 0) from public.dot_iu_command_run r));
  return v_answer;
end
$$;

create function pg_temp.watch_call(p_fn text, p_key text, p_more text default '')
returns jsonb
language sql
as $$
  select pg_temp.watch(p_fn, format('select public.%I(%L::uuid, %L::uuid%s)', p_fn, pg_temp.id(p_key), pg_temp.token(p_key), p_more))
$$;

create function pg_temp.watch_claim(p_kind text)
returns jsonb
language sql
as $$
  select pg_temp.watch('a claim of ' || p_kind, format('select to_jsonb(c) from public.fn_job_claim(array[%L], null, ''worker'') c', p_kind))
$$;

-- Every path, once -----------------------------------------------------------------------------------

select pg_temp.watch(
    'enqueue',
    format('select public.fn_job_enqueue(%L, ''test'', ''dot_iu'', %L, ''{}'')', k.key, k.key))
  from unnest(
    array['succeeds', 'progresses', 'fails', 'fails_at_limit', 'permanent', 'crashes',
      'crashes_at_limit', 'due_claim', 'due_job', 'again']) k(key);
select pg_temp.watch(
    'batch enqueue',
    $$select public.fn_job_enqueue_batch((select jsonb_agg(jsonb_build_object('job_kind', 'batched', 'event_domain', 'test', 'executor', 'dot_iu',
  'idempotency_key', 'batched_' || n, 'payload', '{}'::jsonb)) from generate_series(1, 5) n), 'tester')$$);
select pg_temp.configure('queue.retry.max_attempts.' || k.key, '1')
  from unnest(array['fails_at_limit', 'crashes_at_limit']) k(key);
select pg_temp.watch_claim(k.key)
  from unnest(
    array['succeeds', 'progresses', 'fails', 'fails_at_limit', 'permanent', 'crashes',
      'crashes_at_limit', 'due_claim', 'due_job', 'again']) k(key);
select pg_temp.watch(
    'batch claim',
    $$select jsonb_agg(to_jsonb(c)) from public.fn_job_claim_batch(array['batched'], 'n', 'worker', null, 4) c$$);
select pg_temp.watch_call('fn_job_lease_renew', 'succeeds');
select pg_temp.watch_call('fn_job_succeed', 'succeeds');
select pg_temp.watch_call('fn_job_succeed', 'succeeds');
select pg_temp.watch_call('fn_job_progress', 'progresses');
select pg_temp.watch_call('fn_job_progress', 'progresses');
select pg_temp.watch_call('fn_job_succeed', 'progresses');
select pg_temp.watch_call('fn_job_fail_transient', 'fails', ', ''E'', ''m''');
select pg_temp.watch_call('fn_job_succeed', 'fails');
select pg_temp.watch_call('fn_job_fail_transient', 'fails_at_limit', ', ''E'', ''m''');
select pg_temp.watch_call('fn_job_fail_permanent', 'permanent', ', ''E'', ''m''');
select pg_temp.expire(k.key)
  from unnest(array['crashes', 'crashes_at_limit', 'batched_1', 'batched_2']) k(key);
select pg_temp.watch('reaper', 'select public.fn_job_lease_reaper()');
select pg_temp.watch_call('fn_job_fail_transient', k.key, ', ''E'', ''m''')
  from unnest(array['due_claim', 'due_job']) k(key);
select pg_temp.make_due(k.key) from unnest(array['due_claim', 'due_job', 'crashes']) k(key);
select pg_temp.watch_claim('due_claim');
select pg_temp.watch('promoter', 'select public.fn_job_promote_due()');
select pg_temp.watch_claim('due_job');
select pg_temp.watch(
    'move',
    format('select public.fn_job_move_to_dead_letter(%L, ''E'', ''m'')', pg_temp.id('due_job')));
select pg_temp.watch(
    'enqueue again',
    $$select public.fn_job_enqueue('again', 'test', 'dot_iu', 'again', '{}')$$);
select pg_temp.watch_claim('nothing');

-- The chain of audit rows of one job in one call.
create temp table chains on commit drop as
  select c.call, c.what, r.job_id, array_agg(r.status_from order by r.run_seq) as froms,
         array_agg(r.status_to order by r.run_seq) as tos
    from calls c
    join public.dot_iu_command_run r
      on r.run_seq > c.run_from and r.run_seq <= c.run_to and not r.refused
   where r.job_id is not null
   group by c.call, c.what, r.job_id;

select cmp_ok(
    (select count(*)::int from seen),
    '>=',
    40,
    'd35: the trigger saw the changes of this suite');
select is(
    (select jsonb_agg(distinct c.what)
       from chains c
      where c.tos[1:cardinality(c.tos) - 1] is distinct from c.froms[2:cardinality(c.froms)]
        and cardinality(c.tos) > 1),
    null,
    'd35: the audit rows of a job in a call follow on each other');
-- Each change that a call made equals the composition of that call's audit rows, and the reverse.
create temp table changes on commit drop as
  select s.call, s.job_id,
         (array_agg(s.status_from order by s.seen_seq))[1] as status_from,
         (array_agg(s.status_to order by s.seen_seq desc))[1] as status_to
    from seen s
   group by s.call, s.job_id;
create temp table composed on commit drop as
  select c.call, c.what, c.job_id, c.froms[1] as status_from, c.tos[cardinality(c.tos)] as status_to
    from chains c;
select is(
    (select jsonb_agg(to_jsonb(x))
       from (select c.call, c.job_id, c.status_from, c.status_to
               from changes c except select c.call, c.job_id, c.status_from, c.status_to
               from composed c) x),
    null,
    'd35: every change of a row is what that call''s audit rows compose to');
select is(
    (select jsonb_agg(to_jsonb(x))
       from (select c.call, c.job_id, c.status_from, c.status_to
               from composed c
              where c.status_from is distinct from c.status_to except select c.call, c.job_id,
                c.status_from, c.status_to
               from changes c) x),
    null,
    'd35: no audit row tells of a change that was not made');
-- Every link is documented (§6.7).
select is(
    (select jsonb_agg(distinct r.status_from || '>' || r.status_to)
       from public.dot_iu_command_run r
      where not r.refused
        and r.job_id is not null
        and (
             coalesce(r.status_from, 'null'),
             r.status_to) not in (('null', 'queued'), ('queued', 'leased'),
             ('leased', 'in_progress'), ('in_progress', 'in_progress'),
             ('in_progress', 'succeeded'), ('leased', 'retry_waiting'),
             ('in_progress', 'retry_waiting'), ('leased', 'dead_letter'),
             ('in_progress', 'dead_letter'), ('retry_waiting', 'queued'))),
    null,
    'd35: every link of the audit is a documented transition');
select is(
    (select jsonb_agg(
         distinct coalesce(r.status_from, 'null') || '>'
           || r.status_to order by coalesce(r.status_from, 'null') || '>' || r.status_to)
       from public.dot_iu_command_run r
      where not r.refused and r.job_id is not null),
    '["in_progress>in_progress", "in_progress>succeeded", "leased>dead_letter", "leased>in_progress", "leased>retry_waiting", "null>queued", "queued>leased", "retry_waiting>queued"]',
    'd35: this suite went along every kind of link that 2.0 has but two');
-- The exact chain of each path.
select is(
    (select string_agg(
         coalesce(r.status_from, 'null') || '>' || r.status_to,
         ' ' order by r.run_seq)
       from public.dot_iu_command_run r
      where r.job_id = pg_temp.id(e.key) and not r.refused),
    e.chain,
    format('d35: the audit of the job that %s', e.key))
  from (values ('succeeds', 'null>queued queued>leased leased>in_progress in_progress>succeeded'),
    (
        'progresses',
        'null>queued queued>leased leased>in_progress in_progress>in_progress in_progress>succeeded'),
    ('fails', 'null>queued queued>leased leased>retry_waiting'),
    ('fails_at_limit', 'null>queued queued>leased leased>dead_letter'),
    ('permanent', 'null>queued queued>leased leased>dead_letter'),
    ('crashes', 'null>queued queued>leased leased>retry_waiting retry_waiting>queued'),
    ('crashes_at_limit', 'null>queued queued>leased leased>dead_letter'),
    (
        'due_claim',
        'null>queued queued>leased leased>retry_waiting retry_waiting>queued queued>leased'),
    (
        'due_job',
        'null>queued queued>leased leased>retry_waiting retry_waiting>queued queued>leased leased>dead_letter'),
    ('batched_1', 'null>queued queued>leased leased>retry_waiting'),
    ('batched_5', 'null>queued')) e(key, chain);
-- Replaying the audit rebuilds status and attempts of every row.
select is(
    (select jsonb_agg(
         jsonb_build_array(q.idempotency_key, q.status, a.status, q.attempts, a.attempt))
       from public.job_queue q
       left join lateral (select r.status_to as status, r.attempt
                            from public.dot_iu_command_run r
                           where r.job_id = q.job_id and not r.refused
                           order by r.run_seq desc
                           limit 1) a
         on true
      where (q.status, q.attempts) is distinct from (a.status, coalesce(a.attempt, 0))),
    null,
    'd35: replaying the audit rebuilds status and attempts of every job');
select is(
    (select jsonb_agg(distinct r.session_role)
       from public.dot_iu_command_run r
      where r.run_at >= now()),
    jsonb_build_array(session_user),
    'd35: every audit row names the session user');
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.actor is null or r.run_at is null or r.command is null),
    0,
    'd35: every audit row says who, when and what');
select is(
    (select jsonb_agg(distinct c.what)
       from calls c
      where c.run_from = c.run_to
        and c.what not in (
             'fn_job_lease_renew',
             'fn_job_succeed',
             'enqueue again',
             'a claim of nothing')),
    null,
    'd35: of these calls only renewal, repetition, a found key and an empty claim left no audit row');
select ok(
    (select r.detail::text not like '%token%'
       from public.dot_iu_command_run r
      where r.detail is not null and r.detail::text like '%token%'
      limit 1) is null,
    'd35: no audit row holds a token');

-- Batch and reaper name each job once.
select is(
    (select count(*)::int from chains c where c.what = 'batch enqueue'),
    5,
    'd35: a batch enqueue records each job');
select is(
    (select count(*)::int from chains c where c.what = 'batch claim'),
    4,
    'd35: a batch claim records each job');
select is(
    (select count(*)::int from chains c where c.what = 'reaper'),
    4,
    'd35: the reaper records each job');
select is(
    (select count(*)::int from chains c where c.what = 'promoter'),
    2,
    'd35: the promoter records each retry');

-- Time zones ----------------------------------------------------------------------------------------------------

set local timezone = 'Asia/Ho_Chi_Minh';
select pg_temp.watch(
    'enqueue',
    $$select public.fn_job_enqueue('zoned', 'test', 'dot_iu', 'zoned', '{}', 0, '2020-01-01 00:00:00+07')$$);
select pg_temp.claim('zoned', 90);
set local timezone = 'America/Caracas';
select is(
    (pg_temp.job('zoned')).process_after,
    '2019-12-31 17:00:00+00'::timestamptz,
    'd35: a due time is an instant, whatever the time zone');
select ok(
    (pg_temp.job('zoned')).leased_until between clock_timestamp() + interval '80 seconds' and clock_timestamp(
      ) + interval '90 seconds',
    'd35: a lease granted in one time zone ends at the same instant in another');
select is(
    pg_temp.verdict(pg_temp.call('fn_job_lease_renew', 'zoned', '90')),
    'done',
    'd35: and is renewed there');
set local timezone = 'UTC';
select is(pg_temp.fail('zoned') ->> 'status_to', 'retry_waiting', 'd35: and ended in a third');
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.job_id = pg_temp.id('zoned')
        and r.run_at between now() - interval '1 hour' and clock_timestamp()),
    3,
    'd35: the audit''s times are instants too');
select is(
    (select count(*)::int
       from information_schema.columns c
      where c.table_schema in ('public', 'dot_queue')
        and c.data_type = 'timestamp without time zone'),
    0,
    'd35: no column holds a time without its zone');

-- A lost event is seen, a lost audit row undoes the transition ----------------------------------------------

create function pg_temp.refuse()
returns trigger
language plpgsql
as $$
begin
  raise exception 'refused by a trigger' using errcode = 'P0007';
end
$$;
select pg_temp.hold('event_lost');
select pg_temp.hold('reap_lost');
select pg_temp.expire('reap_lost');
select pg_temp.mark();
create trigger refuse before insert on public.event_pending for each row execute function pg_temp.refuse(
  );
select is(
    pg_temp.call('fn_job_fail_permanent', 'event_lost', '''E'', ''m''') ->> 'status_to',
    'dead_letter',
    's15.5: an event that cannot be stored does not undo the death');
select is(
    pg_temp.answer(
      'select public.fn_job_lease_reaper()') - array['runtime_leases_deleted', 'dead_lettered'],
    '{"refused": false, "reaped": 1, "skipped": []}',
    's15.5: nor the reaping');
drop trigger refuse on public.event_pending;
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint and r.detail ? 'event_lost'),
    2,
    's15.5: the audit row of each says event_lost');
select is(
    (select string_agg(g.reason, ' ')
       from public.v_job_silent_gap g
      where g.job_id in (pg_temp.id('event_lost'), pg_temp.id('reap_lost'))),
    'event_lost event_lost',
    's15.5: the gap view names both');

select pg_temp.hold('audit_lost');
select pg_temp.enqueue('audit_lost_2');
create temp table before_lost on commit drop as select pg_temp.state() as state;
create trigger refuse before insert on public.dot_iu_command_run for each row execute function pg_temp.refuse(
  );
select is(
    pg_temp.call(c.fn, 'audit_lost', c.more) ->> 'raised',
    'P0007',
    format('d35: %s whose audit row cannot be stored raises', c.fn))
  from (values ('fn_job_progress', ''),
    ('fn_job_succeed', ''),
    ('fn_job_fail_transient', '''E'', ''m'''),
    ('fn_job_fail_permanent', '''E'', ''m''')) c(fn, more);
select is(
    pg_temp.enqueue('audit_lost_3') ->> 'raised',
    'P0007',
    'd35: an enqueue whose audit row cannot be stored raises');
select pg_temp.claim('audit_lost_2');
drop trigger refuse on public.dot_iu_command_run;
select is(
    pg_temp.state(),
    b.state,
    'd35: a transition whose audit row cannot be stored did not happen')
  from before_lost b;

select * from finish();
rollback;
