-- The claim (§5.2): which job, in which order, under any plan; what it writes; what it leaves alone.
begin;
\ir lib/session.sql
select plan(60);

-- Claims one job at a time until there is none: the keys in order.
create function pg_temp.drain(p_kinds text[], p_most integer default 50)
returns text
language plpgsql
as $$
declare
  v_keys text[] := '{}';
  v_key text;
begin
  for i in 1..p_most loop
    select q.idempotency_key
      into v_key
      from public.fn_job_claim(p_kinds, 'drain', 'worker') c
      join public.job_queue q on q.job_id = c.job_id;
    exit when not found;
    v_keys := v_keys || v_key;
  end loop;
  return array_to_string(v_keys, ' ');
end
$$;

-- Order and filters -----------------------------------------------------------------------------------

select pg_temp.enqueue('low', 'order', -1);
select pg_temp.enqueue('old', 'order', 0);
select pg_temp.enqueue('new', 'order', 0);
select pg_temp.enqueue('high', 'order', 5);
select pg_temp.enqueue('foreign', 'other_kind', 100);
select pg_temp.enqueue('future', 'order', 100, clock_timestamp() + interval '1 hour');
select is(
    pg_temp.drain(array['order']),
    'high old new low',
    's5.2: a claim takes the highest priority, then the oldest');
select is((pg_temp.job('foreign')).status, 'queued', 's5.2: a job of another kind is left alone');
select is(
    (pg_temp.job('future')).status,
    'queued',
    's5.2: a job whose time has not come is left alone');

-- Equal age: the id decides, so that two claimers see one order.
select pg_temp.enqueue('tie_' || n, 'tie') from generate_series(1, 8) n;
select pg_temp.plant(
    $$update public.job_queue q set enqueued_at = '2026-01-01' where q.job_kind = 'tie'$$);
create temp table by_id on commit drop as
  select string_agg(q.idempotency_key, ' ' order by q.job_id) as keys
    from public.job_queue q
   where q.job_kind = 'tie';
select is(pg_temp.drain(array['tie']), keys, 's5.2: jobs of one age are taken in order of their id')
  from by_id;

select pg_temp.enqueue(k.kind || '_' || n, k.kind, p.priority)
  from (values ('multi_a', 1), ('multi_b', 3), ('multi_c', 2)) k(kind, shift),
       lateral (select n, (n * 7 + shift) % 10 as priority from generate_series(1, 6) n) p;
create temp table wanted on commit drop as
  select string_agg(
      q.idempotency_key,
      ' ' order by q.priority desc,
      q.enqueued_at,
      q.job_id) as keys
    from public.job_queue q
   where q.job_kind like 'multi\_%';
select is(
    pg_temp.drain(array['multi_c', 'multi_a', 'multi_b']),
    keys,
    's5.2: one order holds over several kinds, whichever is named first')
  from wanted;

select pg_temp.enqueue('once', 'once');
select is(
    pg_temp.drain(array['once', 'once', 'nothing_of_this_kind']),
    'once',
    's5.2: a kind that is named twice gives each job once');
select is(
    pg_temp.rows($$select * from public.fn_job_claim(array['no_job_of_this_kind'], 'n', 'worker')$$),
    '[]',
    's5.2: without a job a claim returns no row');
select pg_temp.mark();
select pg_temp.rows(
    $$select * from public.fn_job_claim(array['no_job_of_this_kind'], 'n', 'worker')$$);
select is(pg_temp.audited(), '', 's5.2: an empty claim writes no audit row');

-- Kinds that are no kinds -----------------------------------------------------------------------------

create temp table before_kinds on commit drop as select pg_temp.state() as state;
select is(
    pg_temp.verdict(
      pg_temp.rows(format($$select * from public.fn_job_claim(%s, 'n', 'worker')$$, p.kinds))),
    'invalid_argument',
    's8.5: a claim with ' || p.what || ' is refused, not taken for every kind')
  from (values ('NULL kinds', 'null'),
    ('no kinds', '''{}'''),
    ('a NULL among the kinds', 'array[null]::text[]'),
    ('a kind that cannot exist', 'array[''Other Kind'']'),
    ('an empty kind', 'array['''']'),
    ('1001 kinds', '(select array_agg(''k'' || n) from generate_series(1, 1001) n)')) p(what, kinds);
select is(pg_temp.state(), state, 's8.5: a refused claim changes nothing') from before_kinds;
select is(
    pg_temp.rows(
      $$select * from public.fn_job_claim('{}', 'n', 'worker')$$) - array['message'] #- '{detail,problem}',
    '{"raised": "D4500", "detail": {"refused": true, "reason": "invalid_argument", "argument": "p_kinds"}}',
    's8.5: a claim raises its refusal as D4500 with the object as DETAIL');

-- What a claim gives and writes -------------------------------------------------------------------------

select pg_temp.enqueue('given');
select pg_temp.mark();
create temp table before_given on commit drop as select clock_timestamp() as at;
create temp table given on commit drop as
  select c.* from public.fn_job_claim(array['given'], 'my_lease', 'my_worker', 45) c;
select is(
    (select array_agg(a.attname || ' ' || format_type(a.atttypid, null) order by a.attnum)
       from pg_attribute a
      where a.attrelid = 'given'::regclass and a.attnum > 0),
    array['job_id uuid', 'lease_token uuid', 'leased_until timestamp with time zone',
      'job_kind text', 'event_domain text', 'executor text', 'payload jsonb', 'priority integer',
      'attempts integer', 'max_attempts integer', 'enqueued_at timestamp with time zone'],
    's5.2: a claim returns exactly the columns of the contract, in order');
select is(
    (select to_jsonb(g) - array['leased_until', 'enqueued_at', 'lease_token'] from given g),
    jsonb_build_object('job_id', pg_temp.id('given'), 'job_kind', 'given', 'event_domain', 'test',
      'executor', 'dot_iu', 'payload', '{"ref": 1}'::jsonb, 'priority', 0, 'attempts', 1,
      'max_attempts', 5),
    's5.2: a claim returns the job that it took');
select is((select count(*)::int from given), 1, 's5.2: a claim returns one row');
select is(
    (select jsonb_build_array(q.status, q.claimable, q.attempts, q.lease_name, q.lease_holder)
       from public.job_queue q
      where q.idempotency_key = 'given'),
    '["leased", false, 1, "my_lease", "my_worker"]',
    's5.2: the row is leased to the claimer, with one attempt more');
select is(
    (pg_temp.job('given')).lease_token,
    (select g.lease_token from given g),
    's8.3: the token that was returned is the row''s');
select is(
    (pg_temp.job('given')).leased_until,
    (select g.leased_until from given g),
    's8.3: the end that was returned is the row''s');
select ok(
    (pg_temp.job('given')).leased_at between b.at and clock_timestamp(),
    's8.3: a lease begins at the moment of the claim, not of the transaction')
  from before_given b;
select is(
    (pg_temp.job('given')).leased_until - (pg_temp.job('given')).leased_at,
    interval '45 seconds',
    's8.3: a lease lasts as long as was asked');
select is(
    (select to_jsonb(l) - 'renewed_at'
       from public.dot_iu_runtime_lease l
      where l.lease_name = 'job:' || pg_temp.id('given')),
    (select jsonb_build_object('lease_name', 'job:' || q.job_id, 'lease_holder', 'my_worker',
         'lease_token', q.lease_token, 'acquired_at', q.leased_at, 'expires_at', q.leased_until)
       from public.job_queue q
      where q.idempotency_key = 'given'),
    's8.3: the lease is mirrored in dot_iu_runtime_lease as job:<job_id>');
select is(pg_temp.audited(), 'queued>leased', 's5.2: a claim is one audit row');
select is(
    (select jsonb_build_array(r.actor, r.session_role, r.attempt, r.job_id)
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint),
    jsonb_build_array('my_worker', session_user, 1, pg_temp.id('given')),
    's5.2: the claim''s audit row names holder, session role, attempt and job');

select pg_temp.hold('unnamed');
select is(
    (pg_temp.job('unnamed')).lease_name,
    'job:' || pg_temp.id('unnamed'),
    's8.3: a claim that names no lease has the mirror''s name');
select is(
    (pg_temp.job('unnamed')).leased_until - (pg_temp.job('unnamed')).leased_at,
    interval '600 seconds',
    's8.3: a lease without a length lasts the configured 600 s');
select pg_temp.configure('queue.lease.ttl_seconds.short_kind', '500');
select pg_temp.hold('short_kind');
select is(
    (pg_temp.job('short_kind')).leased_until - (pg_temp.job('short_kind')).leased_at,
    interval '500 seconds',
    's8.3: a kind may have a lease length of its own');
select pg_temp.configure('queue.retry.max_attempts.two_tries', '2');
select pg_temp.enqueue('two_tries');
select is(
    pg_temp.claim('two_tries') ->> 'max_attempts',
    '2',
    's8.1: a claim returns the maximum of the kind');

select is(
    pg_temp.rows(
      format(
        $$select * from public.fn_job_claim(array['given'], %s, %s, %s)$$,
        p.lease_name,
        p.holder,
        p.ttl)) -> 'detail' ->> 'argument',
    p.argument,
    format('s8.5: a claim with %s is refused', p.what))
  from (values ('an empty lease name', '''''', '''w''', '60', 'p_lease_name'),
    ('a lease name of 201 characters', 'repeat(''n'', 201)', '''w''', '60', 'p_lease_name'),
    ('no holder', '''n''', 'null', '60', 'p_lease_holder'),
    ('a blank holder', '''n''', '''  ''', '60', 'p_lease_holder'),
    ('a holder with a control character', '''n''', 'E''w\x01''', '60', 'p_lease_holder'),
    ('a lease of 0 s', '''n''', '''w''', '0', 'p_lease_ttl_seconds'),
    ('a lease of −1 s', '''n''', '''w''', '-1', 'p_lease_ttl_seconds'),
    ('a lease beyond max_ttl_seconds', '''n''', '''w''', '86401', 'p_lease_ttl_seconds'),
    ('the longest integer as lease', '''n''', '''w''', '2147483647', 'p_lease_ttl_seconds')) p(
    what,
    lease_name,
    holder,
    ttl,
    argument);

-- Due rows ----------------------------------------------------------------------------------------------

select pg_temp.hold('retried');
select pg_temp.fail('retried');
select is(
    pg_temp.claim('retried'),
    null,
    's8.1: a job that waits for its retry is not claimed before its time');
select pg_temp.make_due('retried');
select pg_temp.mark();
select is(
    pg_temp.claim('retried') ->> 'attempts',
    '2',
    's8.1: a claim takes a job whose retry is due');
select is(
    pg_temp.audited(),
    'retry_waiting>queued, queued>leased',
    's5.2: a retry that a claim found due shows both its steps');

select pg_temp.enqueue('came_due', null, 0, clock_timestamp() + interval '1 hour');
select pg_temp.age('came_due', 3601);
select pg_temp.mark();
select isnt(pg_temp.claim('came_due'), null, 's5.2: a claim takes a job whose time has come');
select is(
    pg_temp.audited(),
    'queued>leased',
    's5.2: making a queued job claimable is no transition');

select pg_temp.enqueue('due_' || n, 'many_due', 0, clock_timestamp() + interval '1 hour')
  from generate_series(1, 130) n;
select pg_temp.plant(
    $$update public.job_queue q set process_after = clock_timestamp() - interval '1 minute' where q.job_kind = 'many_due'$$);
select pg_temp.claim('many_due');
select is(
    (select count(*)::int
       from public.job_queue q
      where q.job_kind = 'many_due' and not q.claimable and q.status = 'queued'),
    30,
    's5.2: a claim makes at most 100 due rows of a kind claimable');
select is(
    (select count(*)::int
       from public.job_queue q
      where q.job_kind = 'many_due' and q.status = 'leased'),
    1,
    's5.2: a claim that finds many due jobs takes one');

select pg_temp.configure('queue.retry.promoter', 'job');
select pg_temp.enqueue('by_job', null, 0, clock_timestamp() + interval '1 hour');
select pg_temp.make_due('by_job');
select is(
    pg_temp.claim('by_job'),
    null,
    's5.2: with the promoter set to job a claim makes nothing claimable');
select is(
    pg_temp.answer('select public.fn_job_promote_due()') ->> 'refused',
    'false',
    's8.1: the promoter runs by itself');
select isnt(pg_temp.claim('by_job'), null, 's5.2: what the promoter made claimable is claimed');
select pg_temp.configure('queue.retry.promoter', 'claim');
select is(
    (select count(*)::int from public.job_sweep s where s.command = 'fn_job_promote_due'),
    1,
    's8.1: a promoter call leaves its row in job_sweep');
select is(
    pg_temp.answer(format('select public.fn_job_promote_due(%s)', p.value)) ->> 'argument',
    'p_limit',
    's8.1: a promoter limited to ' || p.value || ' is refused')
  from (values ('0'), ('-1'), ('100001')) p(value);
select is(
    pg_temp.verdict(pg_temp.answer('select public.fn_job_promote_due(null)')),
    'done',
    's8.1: a promoter limited to NULL has the default limit');

-- The clock, not the transaction: due since after this transaction began.
select pg_temp.enqueue('due_meanwhile', null, 0, clock_timestamp() + interval '1 hour');
select pg_temp.set('due_meanwhile', $$process_after = clock_timestamp()$$);
select isnt(
    pg_temp.claim('due_meanwhile'),
    null,
    's5.2: a job that came due while the transaction was open is claimed');

-- A row at the ceiling, and an executor that is gone ------------------------------------------------------

select pg_temp.enqueue('ceiling', null, 9);
select pg_temp.enqueue('below_ceiling', 'ceiling');
select pg_temp.set('ceiling', $$attempts = 5$$);
select is(
    pg_temp.drain(array['ceiling']),
    'ceiling below_ceiling',
    's8.1: a waiting row at the ceiling is claimed once more and stops no other');
select is((pg_temp.job('ceiling')).attempts, 6, 's8.1: that claim counts as an attempt');

select pg_temp.enqueue('executor_gone');
select pg_temp.plant($$update public.job_executor e set enabled = false$$);
select isnt(
    pg_temp.claim('executor_gone'),
    null,
    's5.2: the executor is looked at when a job is enqueued, not by the claim');
select pg_temp.plant($$update public.job_executor e set enabled = true$$);

-- A rolled-back claim ---------------------------------------------------------------------------------------

select pg_temp.enqueue('undone');
create temp table before_undone on commit drop as
  select pg_temp.state() as state,
         (select max(r.run_seq) from public.dot_iu_command_run r) as run_seq;
savepoint claim;
select pg_temp.claim('undone');
rollback to savepoint claim;
select is(pg_temp.state(), state, 's5.2: a claim that is rolled back leaves no trace')
  from before_undone;

select * from finish();
rollback;
