-- Batches (§10.1): result i belongs to input i, one bad item stops no other, and a claim of many is many
-- claims.
begin;
\ir lib/session.sql
select plan(75);

create function pg_temp.batch(p_jobs jsonb, p_actor text default 'tester')
returns jsonb
language sql
as $$
  select pg_temp.answer(format('select public.fn_job_enqueue_batch(%L, %L)', p_jobs, p_actor))
$$;

-- An item under this key; p_more overrides or adds.
create function pg_temp.item(p_key text, p_more jsonb default '{}')
returns jsonb
language sql
as $$
  select jsonb_build_object('job_kind', 'batch', 'event_domain', 'test', 'executor', 'dot_iu', 'idempotency_key', p_key, 'payload', '{"ref": 1}'::jsonb) || p_more
$$;

-- Result and input -----------------------------------------------------------------------------------

-- Keys in neither order, so that results in key order would show.
create temp table given on commit drop as
  select n, format('key_%s', (n * 7) % 20) as key from generate_series(0, 19) n;
select pg_temp.mark();
create temp table got on commit drop as
  select pg_temp.batch(
      (select jsonb_agg(pg_temp.item(g.key, jsonb_build_object('priority', g.n)) order by g.n)
         from given g)) as answer;
select is(pg_temp.keys(answer), 'refused results', 's10.1: a batch answers refused and results')
  from got;
select is(jsonb_array_length(answer -> 'results'), 20, 's10.1: there is one result for each item')
  from got;
select is(
    (select count(*)::int from given g join public.job_queue q on q.idempotency_key = g.key
      where q.job_id = (answer -> 'results' -> g.n ->> 'job_id')::uuid and q.priority = g.n), 20,
    's10.1: result i belongs to item i, whatever the order of the keys')
  from got;
select is(
    (select jsonb_agg(distinct r.one - 'job_id')
       from jsonb_array_elements(answer -> 'results') r(one)),
    '[{"status": "queued", "created": true, "refused": false}]',
    's10.1: each result is as fn_job_enqueue answers')
  from got;
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint
        and r.status_from is null
        and r.status_to = 'queued'
        and r.actor = 'tester'),
    20,
    's10.1: each job of a batch has its audit row');
select is(
    (select string_agg(q.idempotency_key, ' ' order by r.run_seq)
       from public.dot_iu_command_run r
       join public.job_queue q using (job_id)
      where r.run_seq > current_setting('test.mark')::bigint),
    (select string_agg(g.key, ' ' order by g.key collate "C") from given g),
    's10.1: a batch inserts in key order, so that two batches cannot deadlock');

-- Refused items ----------------------------------------------------------------------------------------

create temp table bad(n int, what text, item jsonb, reason text, argument text) on commit drop;
insert into bad values (
  1,
  'an unknown key',
  pg_temp.item('bad', '{"prio": 1}'),
  'invalid_argument',
  null), (2, 'a key with p_', pg_temp.item('bad', '{"p_priority": 1}'), 'invalid_argument', null),
  (
      3,
      'a priority that is a text',
      pg_temp.item('bad', '{"priority": "1"}'),
      'invalid_argument',
      'p_priority'),
  (
      4,
      'a priority with a fraction',
      pg_temp.item('bad', '{"priority": 1.5}'),
      'invalid_argument',
      'p_priority'),
  (
      5,
      'a priority beyond 32 bits',
      pg_temp.item('bad', '{"priority": 2147483648}'),
      'invalid_argument',
      'p_priority'),
  (
      6,
      'a priority of 1e400',
      pg_temp.item('bad', '{"priority": 1e400}'),
      'invalid_argument',
      'p_priority'),
  (
      7,
      'a kind that is a number',
      pg_temp.item('bad', '{"job_kind": 1}'),
      'invalid_argument',
      'p_job_kind'),
  (
      8,
      'a kind that is null',
      pg_temp.item('bad', '{"job_kind": null}'),
      'invalid_argument',
      'p_job_kind'),
  (
      9,
      'a key that is an object',
      pg_temp.item('bad', '{"idempotency_key": {}}'),
      'invalid_argument',
      'p_idempotency_key'),
  (10, 'no key', pg_temp.item('bad') - 'idempotency_key', 'invalid_argument', 'p_idempotency_key'),
  (11, 'no payload', pg_temp.item('bad') - 'payload', 'invalid_argument', 'p_payload'),
  (
      12,
      'a payload that is null',
      pg_temp.item('bad', '{"payload": null}'),
      'invalid_argument',
      'p_payload'),
  (
      13,
      'a payload that is an array',
      pg_temp.item('bad', '{"payload": [1]}'),
      'payload_not_signal',
      null),
  (
      14,
      'a time that is none',
      pg_temp.item('bad', '{"process_after": "soon"}'),
      'invalid_argument',
      'p_process_after'),
  (
      15,
      'an infinite time',
      pg_temp.item('bad', '{"process_after": "infinity"}'),
      'invalid_argument',
      'p_process_after'),
  (
      16,
      'a time that is a number',
      pg_temp.item('bad', '{"process_after": 0}'),
      'invalid_argument',
      'p_process_after'),
  (
      17,
      'an executor that nobody knows',
      pg_temp.item('bad', '{"executor": "nobody"}'),
      'unknown_executor',
      null),
  (18, 'an actor of blanks', pg_temp.item('bad', '{"actor": " "}'), 'actor_required', null),
  (
      19,
      'an actor that is a list',
      pg_temp.item('bad', '{"actor": []}'),
      'invalid_argument',
      'p_actor'), (20, 'null', 'null', 'invalid_argument', null),
  (21, 'a number', '7', 'invalid_argument', null), (22, 'a text', '"x"', 'invalid_argument', null),
  (23, 'a list', '[]', 'invalid_argument', null),
  (24, 'an empty object', '{}', 'invalid_argument', 'p_job_kind'),
  (
      25,
      'other content under an active key',
      pg_temp.item('key_0', '{"payload": {"ref": 2}}'),
      'idempotency_conflict',
      null);
-- Each between two good ones.
select pg_temp.mark();
create temp table mixed on commit drop as
  select pg_temp.batch(
      (select jsonb_agg(i.item order by b.n, i.place)
         from bad b, lateral (values (1, b.item), (2, pg_temp.item('good_' || b.n))) i(place, item))) as answer;
select is(
    m.answer -> 'results' -> (2 * (b.n - 1)) ->> 'reason',
    b.reason,
    format('s10.1: an item with %s is refused by itself', b.what))
  from bad b, mixed m
 order by b.n;
select is(
    m.answer -> 'results' -> (2 * (b.n - 1)) ->> 'argument',
    b.argument,
    format('s10.1: an item with %s names the argument', b.what))
  from bad b, mixed m
 where b.argument is not null
 order by b.n;
select is(
    (select count(*)::int from public.job_queue q where q.idempotency_key like 'good\_%'),
    25,
    's10.1: a refused item undoes no other');
select is(
    (select count(*)::int from public.job_queue q where q.idempotency_key = 'bad'),
    0,
    's10.1: no refused item left a job');
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint and r.refused),
    25,
    's10.1: each refused item is one audit row');
select is(
    (select count(*)::int
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint and not r.refused),
    25,
    's10.1: each stored item is one audit row');

-- A row that cannot be written: not the batch's end either.
create function pg_temp.refuse_poison()
returns trigger
language plpgsql
as $$
begin
  raise exception 'poisoned' using errcode = 'P0007';
end
$$;
create trigger refuse_poison before insert on public.job_queue for each row when (
  new.idempotency_key = 'poison') execute function pg_temp.refuse_poison();
create temp table poisoned on commit drop as
  select pg_temp.batch(
      jsonb_build_array(
        pg_temp.item('before_poison'),
        pg_temp.item('poison'),
        pg_temp.item('behind_poison'))) as answer;
select is(
    (select jsonb_agg(r.one -> 'refused' order by r.place)
       from jsonb_array_elements(answer -> 'results') with ordinality r(one, place)),
    '[false, true, false]',
    's10.1: an item that cannot be written is refused by itself')
  from poisoned;
drop trigger refuse_poison on public.job_queue;

-- The same key twice in a batch.
create temp table twice on commit drop as
  select pg_temp.batch(
      jsonb_build_array(
        pg_temp.item('twice'),
        pg_temp.item('other'),
        pg_temp.item('twice'),
        pg_temp.item('twice', '{"payload": {}}'))) as answer;
select is(
    (select jsonb_agg(coalesce(r.one -> 'created', r.one -> 'reason') order by r.place)
       from jsonb_array_elements(answer -> 'results') with ordinality r(one, place)),
    '[true, true, false, "idempotency_conflict"]',
    's10.1: a key twice in a batch is found, or conflicts, as in two calls')
  from twice;
select is(
    answer -> 'results' -> 0 ->> 'job_id',
    answer -> 'results' -> 2 ->> 'job_id',
    's10.1: both results of a key name the same job')
  from twice;

-- The batch itself -----------------------------------------------------------------------------------------

select is(pg_temp.batch('[]'), '{"refused": false, "results": []}', 's10.1: an empty batch is done');
select is(
    pg_temp.batch(b.jobs) ->> 'argument',
    'p_jobs',
    format('s10.1: a batch that is %s is refused as a whole', b.what))
  from (values ('an object', '{}'::jsonb),
    ('null', 'null'),
    ('a text', '"x"'),
    ('a number', '1'),
    (
        'of 1001 items',
        (select jsonb_agg(pg_temp.item('many_' || n)) from generate_series(1, 1001) n))) b(
    what,
    jobs);
select is(
    pg_temp.verdict(pg_temp.answer('select public.fn_job_enqueue_batch(null)')),
    'invalid_argument',
    's10.1: no batch is an invalid argument');
select is(
    pg_temp.batch('[]', '') ->> 'reason',
    'actor_required',
    's10.1: the actor of a batch is looked at');
select is(
    jsonb_array_length(
      pg_temp.batch(
        (select jsonb_agg(pg_temp.item('many_' || n)) from generate_series(1, 1000) n)) -> 'results'),
    1000,
    's10.1: a batch of 1000 items is stored');
select is(
    (select count(*)::int from public.job_queue q where q.idempotency_key like 'many\_%'),
    1000,
    's10.1: all 1000 of them');
select pg_temp.batch(
    jsonb_build_array(
      pg_temp.item('by_item', '{"actor": "item_actor", "priority": null, "process_after": null}')));
select is(
    (select r.actor from public.dot_iu_command_run r where r.job_id = pg_temp.id('by_item')),
    'item_actor',
    's10.1: an item may name its own actor');
select is(
    format('%s %s', (pg_temp.job('by_item')).priority, (pg_temp.job('by_item')).claimable),
    '0 t',
    's10.1: null in an item is the default');
select pg_temp.batch(
    jsonb_build_array(pg_temp.item('with_time', '{"process_after": "2020-01-01T00:00:00+07:00"}')));
select is(
    (pg_temp.job('with_time')).process_after,
    '2019-12-31 17:00:00+00'::timestamptz,
    's10.1: the time of an item is an instant');

-- Claims of many ----------------------------------------------------------------------------------------------

select pg_temp.enqueue(format('claim_%s', lpad(n::text, 2, '0')), 'claims', (n * 3) % 4)
  from generate_series(1, 12) n;
create temp table wanted on commit drop as
  select array_agg(q.job_id order by q.priority desc, q.enqueued_at, q.job_id) as ids
    from public.job_queue q
   where q.job_kind = 'claims';
select pg_temp.mark();
create temp table claimed on commit drop as
  select c.*
    from public.fn_job_claim_batch(array['claims'], 'my_lease', 'me', 120, 10) with ordinality c;
select is(
    (select array_agg(c.job_id order by c.ordinality) from claimed c),
    w.ids[1:10],
    's10.1: a batch is returned in claim order')
  from wanted w;
select is(
    (select count(distinct c.lease_token)::int from claimed c),
    10,
    's10.1: each job of a batch has a token of its own');
select is(
    (select count(*)::int
       from claimed c
       join public.job_queue q using (job_id)
      where q.lease_token = c.lease_token
        and q.leased_until = c.leased_until
        and q.attempts = c.attempts),
    10,
    's10.1: what a batch returns is what the rows hold');
select is(
    (select count(*)::int
       from claimed c
       join public.dot_iu_runtime_lease l
         on l.lease_name = 'job:' || c.job_id and l.lease_token = c.lease_token),
    10,
    's10.1: each job of a batch has its mirror');
select is(
    (select count(*)::int
       from claimed c
       join public.dot_iu_command_run r
         on r.job_id = c.job_id
        and r.run_seq > current_setting('test.mark')::bigint
        and r.status_to = 'leased'),
    10,
    's10.1: each job of a batch has its audit row');
select is(
    pg_temp.verdict(
      pg_temp.answer(format('select public.fn_job_succeed(%L, %L)', c.job_id, c.lease_token))),
    'done',
    's10.1: each job of a batch ends by itself')
  from claimed c
 where c.ordinality = 4;
select is(
    (select count(*)::int
       from public.job_queue q
      where q.job_kind = 'claims' and q.status = 'leased'),
    9,
    's10.1: and the others stay held');

create temp table before_undone on commit drop as select pg_temp.state() as state;
savepoint claim;
select count(*)
  from public.fn_job_claim_batch(array['claims', 'batch'], 'my_lease', 'me', null, 1000);
rollback to savepoint claim;
select is(pg_temp.state(), b.state, 's10.1: a batch claim that is rolled back leaves no trace')
  from before_undone b;
select isnt(pg_temp.claim('claims'), null, 's10.1: what it had claimed can be claimed again');

select * from finish();
rollback;
