-- Dead letters (§8.4): what is kept of a job that died, the triage and the dry run of the DLQ document,
-- key by key, and the views. Release 2.0 ships no function that can requeue.
begin;
\ir lib/session.sql
select plan(74);

create function pg_temp.letter(p_key text)
returns public.job_dead_letter
language sql
as $$
  select d.*
    from public.job_dead_letter d
   where d.idempotency_key = p_key
   order by d.last_failed_at desc
   limit 1
$$;

create function pg_temp.triage(p_key text, p_status text, p_actor text default 'judge', p_note text default null)
returns jsonb
language sql
as $$
  select pg_temp.answer(format('select public.fn_job_dead_letter_triage_update(%L, %L, %L, %L)',
    (pg_temp.letter(p_key)).dead_letter_id, p_status, p_actor, p_note))
$$;

create function pg_temp.dry_run(p_key text)
returns jsonb
language sql
as $$
  select pg_temp.answer(
    format('select public.fn_job_dead_letter_requeue_dry_run(%L)', (pg_temp.letter(p_key)).dead_letter_id))
$$;

-- What is kept --------------------------------------------------------------------------------------

select pg_temp.answer(
    $$select public.fn_job_enqueue('kept', 'sales', 'dot_iu', 'kept', '{"order": "A-1"}', 4, null, 'shop')$$);
select pg_temp.claim('kept');
select pg_temp.call('fn_job_progress', 'kept');
create temp table alive on commit drop as
  select q.* from public.job_queue q where q.idempotency_key = 'kept';
delete from public.event_pending;
select pg_temp.mark();
create temp table death on commit drop as
  select clock_timestamp() as before,
         pg_temp.call(
           'fn_job_fail_permanent',
           'kept',
           '''MALFORMED'', ''no such order'', ''a_worker''') as answer, clock_timestamp() as after;

select is(
    d.answer,
    jsonb_build_object('refused', false, 'job_id', a.job_id, 'status_from', 'in_progress',
      'status_to', 'dead_letter', 'attempts', 5, 'dead_letter_id',
      (pg_temp.letter('kept')).dead_letter_id),
    's8.4: a permanent failure answers with its dead letter')
  from death d, alive a;
select is(
    (select to_jsonb(l) - array[
         'dead_letter_id',
         'job_snapshot',
         'first_failed_at',
         'last_failed_at']
       from public.job_dead_letter l
      where l.idempotency_key = 'kept'),
    jsonb_build_object('job_id', a.job_id, 'job_kind', 'kept', 'event_domain', 'sales', 'executor',
      'dot_iu', 'idempotency_key', 'kept', 'failure_code', 'MALFORMED', 'failure_detail',
      'no such order', 'attempts', 1, 'resolved_at', null, 'resolution', null, 'resolution_note',
      null, 'triage_status', 'pending', 'triage_note', null, 'triaged_at', null, 'triaged_by', null),
    's8.4: a dead letter is copied from the job row; only code and detail are the caller''s')
  from alive a;
select ok(
    (pg_temp.letter('kept')).first_failed_at between d.before and d.after
      and (pg_temp.letter('kept')).last_failed_at between d.before and d.after,
    's8.4: a dead letter is dated by the clock')
  from death d;
select is((pg_temp.letter('kept')).job_snapshot - array['last_error', 'ended_outcome'],
    to_jsonb(a) - array['lease_token', 'ended_token', 'last_error', 'ended_outcome'],
    's8.4: the snapshot is the job row as it was, without its tokens')
  from alive a;
select ok(
    (pg_temp.letter('kept')).job_snapshot::text not like '%' || a.lease_token || '%',
    's8.4: no token hides anywhere in the snapshot')
  from alive a;
select is(
    (pg_temp.letter('kept')).job_snapshot -> 'payload',
    '{"order": "A-1"}',
    'self_test: the snapshot keeps the signal that the payload is');
select is((pg_temp.job('kept')).status, 'dead_letter', 's8.4: the job stays in the queue as dead');
select is(
    (select count(*)::int
       from public.event_pending e
      where e.event_domain = 'system'
        and e.event_type = 'queue_job_dead_lettered'
        and e.severity = 'warning'
        and e.payload ->> 'job_id' = a.job_id::text),
    1,
    's8.4: a death is one warning event that names the job')
  from alive a;
select ok(
    (select bool_and(e.payload::text not like '%A-1%') from public.event_pending e),
    's8.4: the event holds references, not the payload');
select is(
    (select jsonb_build_array(r.status_from, r.status_to, r.actor, r.dead_letter_id, r.attempt)
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint),
    jsonb_build_array(
      'in_progress',
      'dead_letter',
      'a_worker',
      (pg_temp.letter('kept')).dead_letter_id,
      5),
    's8.4: a death is one audit row, with the dead letter');

-- The table keeps its own rules ------------------------------------------------------------------------

create function pg_temp.refused_by(p_statement text)
returns text
language plpgsql
as $$
declare
  v_constraint text;
begin
  execute p_statement;
  return 'accepted';
exception when check_violation or unique_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name;
  return coalesce(nullif(v_constraint, ''), sqlstate);
end
$$;
select is(
    pg_temp.refused_by(
      $$update public.job_dead_letter set triage_status = 'bogus' where idempotency_key = 'kept'$$),
    'job_dead_letter_triage_check',
    's8.4: a triage status outside the vocabulary is refused by job_dead_letter_triage_check');
select is(
    pg_temp.refused_by(
      format(
        'update public.job_dead_letter set triage_status = %L where idempotency_key = ''kept''',
        s.word)),
    'accepted',
    's8.4: the triage status ' || s.word || ' is in the vocabulary')
  from unnest(array['acknowledged', 'manual_replay', 'escalated', 'closed', 'pending']) s(word);
select isnt(
    pg_temp.refused_by(
      $$update public.job_dead_letter set resolved_at = now() where idempotency_key = 'kept'$$),
    'accepted',
    's8.4: resolved_at without a resolution is refused');
select isnt(
    pg_temp.refused_by(
      $$update public.job_dead_letter set resolution = 'discarded' where idempotency_key = 'kept'$$),
    'accepted',
    's8.4: a resolution without resolved_at is refused');
select isnt(
    pg_temp.refused_by(
      $$update public.job_dead_letter set resolved_at = now(), resolution = 'forgotten' where idempotency_key = 'kept'$$),
    'accepted',
    's8.4: a resolution outside the vocabulary is refused');
select isnt(
    pg_temp.refused_by(
      $$update public.job_dead_letter set attempts = 0 where idempotency_key = 'kept'$$),
    'accepted',
    's8.4: a dead letter without an attempt is refused');
savepoint resolved;
select is(
    pg_temp.refused_by(
      format(
        'update public.job_dead_letter set resolved_at = now(), resolution = %L where idempotency_key = ''kept''',
        r.word)),
    'accepted',
    's8.4: the resolution ' || r.word || ' is in the vocabulary')
  from unnest(array['replayed', 'discarded', 'superseded']) r(word);
-- Died, resolved, died again: a second dead letter of the same job. Two open ones are refused.
create temp table copied on commit drop as
  select l.* from public.job_dead_letter l where l.idempotency_key = 'kept';
update copied set dead_letter_id = gen_random_uuid(), resolved_at = null, resolution = null;
select is(
    pg_temp.refused_by('insert into public.job_dead_letter select * from copied'),
    'accepted',
    's8.4: a job whose dead letter is resolved may have another');
update copied set dead_letter_id = gen_random_uuid();
select is(
    pg_temp.refused_by('insert into public.job_dead_letter select * from copied'),
    'job_dead_letter_open_idx',
    's8.4: a job has one open dead letter');
rollback to savepoint resolved;
select is(
    (select count(*)::int
       from pg_constraint c
      where c.contype = 'f' and 'public.job_dead_letter'::regclass in (c.conrelid, c.confrelid)),
    0,
    's8.4: no foreign key ties a dead letter to anything');
delete from public.job_queue q where q.idempotency_key = 'kept';
select is(
    (select count(*)::int from public.job_dead_letter d where d.idempotency_key = 'kept'),
    1,
    's8.4: a dead letter outlives its job');

-- Triage (DLQ document) ------------------------------------------------------------------------------------

select pg_temp.hold('triaged');
select pg_temp.call('fn_job_fail_permanent', 'triaged', $$'E', 'm'$$);
select pg_temp.mark();
create temp table before_triage on commit drop as
  select l.*, (select md5(string_agg(q::text, '' order by q::text)) from public.job_queue q) as jobs
    from public.job_dead_letter l
   where l.idempotency_key = 'triaged';
create temp table triage on commit drop as
  select clock_timestamp() as before,
         pg_temp.triage(
           'triaged',
           'acknowledged',
           'phase2_proof_triage',
           'phase2 bounded proof triage') as answer, clock_timestamp() as after;
select is(
    t.answer - 'triaged_at',
    jsonb_build_object('refused', false, 'triaged_by', 'phase2_proof_triage', 'dead_letter_id',
      b.dead_letter_id, 'triage_status_to', 'acknowledged', 'triage_status_from', 'pending'),
    's8.4: a triage answers with the documented keys')
  from triage t, before_triage b;
select ok(
    (t.answer ->> 'triaged_at')::timestamptz between t.before and t.after,
    's8.4: a triage is dated by the clock')
  from triage t;
select is(
    (t.answer ->> 'triaged_at')::timestamptz,
    (pg_temp.letter('triaged')).triaged_at,
    's8.4: the answer has the date that the row has')
  from triage t;
select is(
    to_jsonb(pg_temp.letter('triaged')) - array[
      'triage_status',
      'triage_note',
      'triaged_at',
      'triaged_by'],
    to_jsonb(b) - array['triage_status', 'triage_note', 'triaged_at', 'triaged_by', 'jobs'],
    's8.4: a triage writes the triage columns alone')
  from before_triage b;
select is(
    (pg_temp.letter('triaged')).triage_note,
    'phase2 bounded proof triage',
    's8.4: the note is kept');
select is(
    (select md5(string_agg(q::text, '' order by q::text)) from public.job_queue q),
    b.jobs,
    's8.4: a triage never changes the queue')
  from before_triage b;
select is(
    pg_temp.triage('triaged', 'escalated', null) ->> 'triaged_by',
    session_user::text,
    's8.4: without an actor it is the session user');
select is(
    (pg_temp.letter('triaged')).triage_note,
    'phase2 bounded proof triage',
    's8.4: a triage without a note keeps the note');
select is(
    pg_temp.triage('triaged', 'pending') ->> 'triage_status_from',
    'escalated',
    's8.4: triage may go any way in its vocabulary');
select is(
    (select jsonb_agg(
         jsonb_build_array(
           r.actor,
           r.job_id,
           r.dead_letter_id = (pg_temp.letter('triaged')).dead_letter_id,
           r.status_from,
           r.status_to) order by r.run_seq)
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint),
    jsonb_build_array(
      jsonb_build_array('phase2_proof_triage', null, true, null, null),
      jsonb_build_array(session_user, null, true, null, null),
      jsonb_build_array('judge', null, true, null, null)),
    's8.4: each triage is one audit row without a job');
select ok(
    (select bool_and(r.detail::text like '%pending%' or r.detail::text like '%escalated%')
       from public.dot_iu_command_run r
      where r.run_seq > current_setting('test.mark')::bigint),
    's8.4: a triage''s values are in the detail of its audit row');

select pg_temp.mark();
create temp table before_refusals on commit drop as select pg_temp.state() as state;
select is(
    pg_temp.triage('triaged', 'bogus_status'),
    '{"got": "bogus_status", "reason": "invalid_triage_status", "allowed": ["pending", "acknowledged", "manual_replay", "escalated", "closed"], "refused": true}',
    's8.4: a status outside the vocabulary is refused to the letter of the document');
select is(
    pg_temp.triage('triaged', 'closed', ''),
    '{"reason": "actor_required", "refused": true}',
    's8.4: an empty actor is refused to the letter');
select is(
    pg_temp.triage('triaged', 'closed', E' \t'),
    '{"reason": "actor_required", "refused": true}',
    's8.4: a blank actor is an empty one');
select is(
    pg_temp.answer(
      $$select public.fn_job_dead_letter_triage_update('00000000-0000-0000-0000-000000000000', 'closed', 'judge')$$),
    '{"reason": "dead_letter_not_found", "refused": true, "dead_letter_id": "00000000-0000-0000-0000-000000000000"}',
    's8.4: an unknown dead letter is refused to the letter');
select is(
    pg_temp.verdict(
      pg_temp.answer($$select public.fn_job_dead_letter_triage_update(null, 'closed', 'judge')$$)),
    'invalid_argument',
    's8.4: no dead letter is an invalid argument');
select is(
    pg_temp.triage('triaged', null) ->> 'argument',
    'p_triage_status',
    's8.4: no status is an invalid argument');
select is(
    pg_temp.triage('triaged', 'closed', 'judge', repeat('n', 4001)) ->> 'argument',
    'p_triage_note',
    's8.4: a note of 4001 characters is refused');
select is(pg_temp.state(), b.state, 's8.4: a refused triage changes nothing') from before_refusals b;
select is(
    pg_temp.audited(),
    'refused invalid_triage_status, refused actor_required, refused actor_required, refused dead_letter_not_found, refused invalid_argument, refused invalid_argument, refused invalid_argument',
    's8.4: each refused triage is one audit row');
select is(
    pg_temp.verdict(pg_temp.triage('triaged', 'closed', 'judge', repeat('n', 4000))),
    'done',
    's8.4: a note of 4000 characters is accepted');
select is(
    pg_temp.verdict(
      pg_temp.answer(
        format(
          'select public.fn_job_dead_letter_triage_update(p_dead_letter_id => %L, p_triage_status => ''closed'', p_actor => ''judge'', p_triage_note => null)',
          (pg_temp.letter('triaged')).dead_letter_id))),
    'done',
    's8.4: the documented argument names work');

-- Dry run (DLQ document) ----------------------------------------------------------------------------------------

select pg_temp.hold('previewed');
select pg_temp.set('previewed', $$attempts = 5$$);
select pg_temp.expire('previewed');
select pg_temp.answer('select public.fn_job_lease_reaper()');
select pg_temp.triage('previewed', 'acknowledged');
select pg_temp.mark();
create temp table before_preview on commit drop as select pg_temp.state() as state;
create temp table preview on commit drop as
  select clock_timestamp() as before, pg_temp.dry_run('previewed') as answer,
         clock_timestamp() as after;
select is(
    p.answer - 'evaluated_at',
    jsonb_build_object('mutation', false, 'replay_gate_enabled', false, 'dead_letter_id',
      (pg_temp.letter('previewed')).dead_letter_id, 'job_id_original', pg_temp.id('previewed'),
      'job_kind', 'previewed', 'triage_status', 'acknowledged', 'final_error',
      'lease_expired_reaped_at_max_attempts', 'attempts_at_failure', 5, 'idempotency_key',
      'previewed', 'idempotency_collision', jsonb_build_object('blocked', false), 'would_action',
      'refused: queue.dlq.replay_enabled=false'),
    's8.4: the dry run answers with the documented keys and values')
  from preview p;
select ok(
    (p.answer ->> 'evaluated_at')::timestamptz between p.before and p.after,
    's8.4: evaluated_at is the moment of the dry run')
  from preview p;
select is(
    pg_temp.answer(
      $$select public.fn_job_dead_letter_requeue_dry_run('00000000-0000-0000-0000-000000000000')$$),
    '{"reason": "dead_letter_not_found", "refused": true, "dead_letter_id": "00000000-0000-0000-0000-000000000000"}',
    's8.4: the dry run of an unknown dead letter is refused to the letter');
select is(
    pg_temp.verdict(pg_temp.answer('select public.fn_job_dead_letter_requeue_dry_run(null)')),
    'invalid_argument',
    's8.4: the dry run of nothing is an invalid argument');
select is(pg_temp.audited(), '', 's8.4: a STABLE function records no refusal');
select is(pg_temp.state(), b.state, 's8.4: a dry run changes nothing') from before_preview b;
select is(
    (select p.provolatile
       from pg_proc p
      where p.oid = 'public.fn_job_dead_letter_requeue_dry_run(uuid)'::regprocedure),
    's',
    's8.4: the dry run is STABLE');
savepoint read_only;
set local transaction_read_only = on;
select is(
    pg_temp.dry_run('previewed') ->> 'mutation',
    'false',
    's8.4: the dry run works where nothing can be written');
rollback to savepoint read_only;

select pg_temp.configure('queue.dlq.replay_enabled', 'true');
select is(
    pg_temp.dry_run('previewed') ->> 'would_action',
    'preview_only: Phase 2 ships no apply-side requeue',
    's8.4: with the gate open the dry run is a preview only');
select is(
    pg_temp.dry_run('previewed') ->> 'replay_gate_enabled',
    'true',
    's8.4: the dry run shows the gate');
select pg_temp.age('previewed', 1000);
select pg_temp.enqueue('previewed');
create temp table live on commit drop as
  select q.job_id
    from public.job_queue q
   where q.idempotency_key = 'previewed' and q.status = 'queued';
select is(
    pg_temp.dry_run('previewed') -> 'idempotency_collision',
    jsonb_build_object('blocked', true, 'active_job_id', l.job_id),
    's8.4: the dry run names the live job of the key')
  from live l;
select is(
    pg_temp.dry_run('previewed') ->> 'would_action',
    'refused: idempotency_collision',
    's8.4: a live job of the same key is a collision');
select pg_temp.configure('queue.dlq.replay_enabled', 'false');
select is(
    pg_temp.dry_run('previewed') ->> 'would_action',
    'refused: queue.dlq.replay_enabled=false',
    's8.4: the closed gate wins over a collision');
select is(
    pg_temp.dry_run('previewed') -> 'idempotency_collision' ->> 'blocked',
    'true',
    's8.4: the collision is shown all the same');
select pg_temp.configure('queue.dlq.replay_enabled', 'true');
select pg_temp.plant(
    $$update public.job_dead_letter l set resolved_at = clock_timestamp(), resolution = 'discarded' where l.idempotency_key = 'previewed'$$);
select is(
    pg_temp.dry_run('previewed') ->> 'would_action',
    'refused: already_resolved',
    's8.4: a resolved dead letter previews already_resolved');

-- Views ------------------------------------------------------------------------------------------------------------

select is(
    (select array_agg(a.attname::text order by a.attnum)
       from pg_attribute a
      where a.attrelid = 'public.v_dead_letter_all'::regclass and a.attnum > 0),
    '{layer,key,event_domain,event_type,route_code,failure_code,attempts,first_failed_at,last_failed_at,resolved_at,resolution}',
    's8.4: v_dead_letter_all has the documented columns');
insert into public.iu_route_dead_letter (event_ref, event_domain, event_type, route_code,
  failure_code, attempts, first_failed_at, last_failed_at) values ('event-1', 'sales',
  'order_placed', 'route-7', 'NO_ROUTE', 2, '2026-01-01', '2026-01-02');
select is(
    (select to_jsonb(v) - array['first_failed_at', 'last_failed_at']
       from public.v_dead_letter_all v
      where v.layer = 'event'),
    '{"layer": "event", "key": "event-1", "event_domain": "sales", "event_type": "order_placed", "route_code": "route-7", "failure_code": "NO_ROUTE", "attempts": 2, "resolved_at": null, "resolution": null}',
    's8.4: v_dead_letter_all shows the dead letters of events');
select is(
    (select to_jsonb(v) - array['first_failed_at', 'last_failed_at', 'resolved_at']
       from public.v_dead_letter_all v
      where v.key = (pg_temp.letter('triaged')).job_id::text),
    jsonb_build_object('layer', 'job', 'key', pg_temp.id('triaged'), 'event_domain', 'test',
      'event_type', 'triaged', 'route_code', 'dot_iu', 'failure_code', 'E', 'attempts', 1,
      'resolution', null),
    's8.4: v_dead_letter_all shows the dead letters of jobs, kind as type and executor as route');
select is(
    (select count(*)::int from public.v_dead_letter_all),
    (select count(*)::int + 1 from public.job_dead_letter),
    's8.4: v_dead_letter_all shows all of both, resolved or not');
select is(
    (select jsonb_build_array(v.dead_letter_id, v.job_id_original, v.triage_status, v.failure_code)
       from public.v_job_dead_letter v
      where v.idempotency_key = 'triaged'),
    (select jsonb_build_array(l.dead_letter_id, l.job_id, l.triage_status, l.failure_code)
       from public.job_dead_letter l
      where l.idempotency_key = 'triaged'),
    's8.4: v_job_dead_letter shows dead letter, job, triage and failure');
select is(
    (select count(*)::int
       from pg_proc p
      where p.proname in (
        'fn_job_dead_letter_replay',
        'fn_job_dead_letter_resolve',
        'fn_job_dead_letter_requeue')),
    0,
    's8.4: release 2.0 ships no function that can requeue');

-- Forged arguments (F56): an internal function that no role may call ------------------------------------------

select is(
    pg_temp.verdict(
      pg_temp.answer($$select public.fn_job_move_to_dead_letter(gen_random_uuid(), 'E', 'm')$$)),
    'job_not_found',
    's8.4: an unknown job cannot be moved');
select pg_temp.enqueue('not_held');
select is(
    pg_temp.verdict(
      pg_temp.answer(
        format($$select public.fn_job_move_to_dead_letter(%L, 'E', 'm')$$, pg_temp.id('not_held')))),
    'not_leased',
    's8.4: a job that nobody holds cannot be moved');
select pg_temp.hold('moved');
select is(
    pg_temp.verdict(
      pg_temp.answer(
        format($$select public.fn_job_move_to_dead_letter(%L, null, null)$$, pg_temp.id('moved')))),
    'done',
    's8.4: a held job can be moved, also without a code');
select is(
    (pg_temp.letter('moved')).failure_code,
    'unspecified',
    's8.4: a failure without a code is unspecified on every path');

select * from finish();
rollback;
