-- Who may do what (§11.5): role × function and role × table as the privilege model says, a role with
-- nothing, and objects of a caller that are named like ours or like PostgreSQL's own types.
begin;
\ir lib/session.sql
\ir lib/functions.sql
select plan(171);

-- Roles are the cluster's: two suites at once must not share a name.
select set_config('test.nobody', format('dieu45_nobody_%s', pg_backend_pid()), true);
select set_config('test.worker', format('dieu45_worker_%s', pg_backend_pid()), true);
select set_config('test.admin', format('dieu45_admin_%s', pg_backend_pid()), true);
do $$
begin
  execute format('create role %I', current_setting('test.nobody'));
  execute format('create role %I in role dot_executor, dot_producer', current_setting('test.worker'));
  execute format('create role %I in role workflow_admin, dot_producer', current_setting('test.admin'));
end
$$;
create temp table callers(role text, model text) on commit drop;
insert into callers
select r, r from unnest(array['dot_executor', 'dot_producer', 'workflow_admin', 'dot_auditor']) r
union all
select current_setting('test.nobody'), 'nobody';

-- Role × function ------------------------------------------------------------------------------------

create function pg_temp.may(p_fn text, p_arguments text, p_role text)
returns boolean
language plpgsql
as $$
declare
  v_answer jsonb := pg_temp.surface_call(p_fn, p_arguments, p_role);
begin
  if v_answer ->> 'raised' = '42501' then
    return false;
  end if;
  if v_answer ->> 'raised' is distinct from null and v_answer ->> 'raised' <> 'D4500' then
    raise exception '% as %: %', p_fn, p_role, v_answer;
  end if;
  return true;
end
$$;
select is(
    pg_temp.may(s.fn, s.arguments, c.role),
    c.model = any (s.roles),
    format(
      's11.5: %s %s call %s',
      c.model,
      case when c.model = any (s.roles) then 'may' else 'may not' end,
      s.fn))
  from surface s, callers c
 order by s.place, c.model;
select is(
    (select count(*)::int from surface),
    (select count(*)::int
       from pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and (p.proname like 'fn\_job\_%' or p.proname = 'fn_dead_letter_health')),
    's11.5: no public function of ours is left out of this list');

-- Role × table ---------------------------------------------------------------------------------------------

create temp table ours as
  select r.name, r.name::regclass as oid
    from unnest(array['public.job_queue', 'public.job_dead_letter', 'public.job_executor', 'public.job_sweep', 'public.dot_config', 'public.dot_iu_runtime_lease',
                      'public.iu_route_dead_letter', 'public.event_pending', 'public.dot_iu_command_run', 'public.v_dead_letter_all', 'public.v_job_dead_letter',
                      'public.v_job_retry_pressure', 'public.v_lease_active', 'public.v_queue_health', 'public.v_job_silent_gap', 'public.v_queue_config']) r(name);
select is(
    (select string_agg(o.name || ' ' || p.privilege, ', ' order by o.name, p.privilege)
       from ours o,
              unnest(
                array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p(
                privilege)
      where case when p.privilege in (
        'INSERT',
        'UPDATE',
        'REFERENCES') then has_any_column_privilege(c.role, o.oid, p.privilege) else has_table_privilege(
        c.role,
        o.oid,
        p.privilege) end),
    null,
    format('s11.5: %s may write no table', c.model))
  from callers c
 order by c.model;
select is(
    (select string_agg(o.name, ', ' order by o.name)
       from ours o
      where has_any_column_privilege(c.role, o.oid, 'SELECT')),
    null,
    format('s11.5: %s may read no table', c.model))
  from callers c
 where c.model <> 'dot_auditor'
 order by c.model;
select is(
    pg_temp.answer(format('%s', w.statement), c.role) ->> 'raised',
    '42501',
    format('s11.5: %s that tries to %s is stopped', c.model, w.what))
  from callers c,
         (
             values (
               'insert a job',
               'insert into public.job_queue (job_kind, event_domain, executor, idempotency_key, payload) values (''x'', ''x'', ''x'', ''x'', ''{}'')'),
             ('release a lease', 'update public.job_queue set status = ''queued'''),
             ('forget an audit row', 'delete from public.dot_iu_command_run'),
             (
                 'forge a dead letter',
                 'insert into public.job_dead_letter (job_id) values (gen_random_uuid())'),
             ('change a setting', 'update public.dot_config set value = ''x''')) w(what, statement)
 order by c.model, w.what;
select is(
    (select jsonb_agg(distinct a.attname order by a.attname)
       from pg_attribute a
      where a.attrelid = 'public.job_queue'::regclass
        and a.attnum > 0
        and not a.attisdropped
        and not has_column_privilege('dot_auditor', a.attrelid, a.attnum, 'SELECT')
        and a.attname <> 'ended_outcome'),
    '["ended_token", "lease_token", "payload"]',
    's11.5: the auditor reads the queue but for payload and tokens');
select is(
    (select jsonb_agg(distinct a.attname order by a.attname)
       from pg_attribute a
      where a.attrelid = 'public.job_dead_letter'::regclass
        and a.attnum > 0
        and not a.attisdropped
        and not has_column_privilege('dot_auditor', a.attrelid, a.attnum, 'SELECT')),
    '["job_snapshot"]',
    's11.5: and dead letters but for the snapshot, which holds the payload');
select is(
    pg_temp.answer('select to_jsonb(q.payload) from public.job_queue q', 'dot_auditor') ->> 'raised',
    '42501',
    's11.5: a payload is refused to the auditor');
select is(
    pg_temp.answer('select to_jsonb(q) from public.job_queue q', 'dot_auditor') ->> 'raised',
    '42501',
    's11.5: so is a whole row');
select is(
    pg_temp.answer(format('select to_jsonb(count(*)) from %s', o.name), 'dot_auditor') ->> 'raised',
    null,
    format('s11.5: the auditor reads %s', o.name))
  from ours o
 where o.name like 'public.v\_%'
 order by o.name;
select is(
    pg_temp.answer(
      'select to_jsonb(count(*)) from public.dot_iu_command_run',
      'dot_auditor') ->> 'raised',
    null,
    's11.5: the auditor reads the audit');

-- The private schema ------------------------------------------------------------------------------------------

select is(
    has_schema_privilege(c.role, 'dot_queue', 'USAGE, CREATE'),
    false,
    format('s11.5: %s has nothing in schema dot_queue', c.model))
  from callers c
 order by c.model;
select is(
    pg_temp.answer('select to_jsonb(dot_queue.max_attempts(''x''))', c.role) ->> 'raised',
    '42501',
    format('s11.5: %s cannot call a helper', c.model))
  from callers c
 order by c.model;

-- A worker with its roles, and objects of its own ---------------------------------------------------------------

-- The whole life of a job as that worker: what each call answered, without ids and times.
create function pg_temp.life(p_key text)
returns jsonb
language plpgsql
as $$
declare
  v_worker text := current_setting('test.worker');
  v_job jsonb;
  v_seen jsonb := '[]';
  v_call record;
begin
  v_seen := v_seen || (pg_temp.answer(format('select public.fn_job_enqueue(%L, ''test'', ''dot_iu'', %L, ''{"a": [1, 2]}'')', p_key, p_key), v_worker) - 'job_id');
  v_job := pg_temp.rows(format('select * from public.fn_job_claim(array[%L], null, ''worker'')', p_key), v_worker) -> 0;
  v_seen := v_seen || (v_job - array['job_id', 'lease_token', 'leased_until', 'enqueued_at', 'job_kind']);
  -- Without a comparison of its own: a hostile operator must meet the substrate, not this test.
  for v_call in
    select *
      from (values ('fn_job_lease_renew', ''), ('fn_job_progress', ''),
                   ('fn_job_fail_transient', ', ''E'', ''m''')) c(fn, more)
  loop
    v_seen := v_seen || (pg_temp.answer(format('select public.%I(%L, %L%s)', v_call.fn,
        v_job ->> 'job_id', v_job ->> 'lease_token', v_call.more), v_worker)
      - array['job_id', 'leased_until', 'process_after']);
  end loop;
  v_seen := v_seen || (pg_temp.answer(format('select public.fn_job_get(%L)', v_job ->> 'job_id'), v_worker)
    - array['job_id', 'job_kind', 'idempotency_key', 'enqueued_at', 'process_after', 'first_failed_at', 'last_error_at']);
  return v_seen;
end
$$;
create temp table life on commit drop as select pg_temp.life('life_plain') as plain;
select is(
    (select jsonb_agg(e.one) from jsonb_array_elements(l.plain) e(one) where e.one ? 'raised'),
    null,
    's11.5: a worker with its roles leads a job through its life')
  from life l;

-- Objects named like ours, and like types that a function body names, in the worker's own pg_temp.
select set_config('test.spied', '', true);
create function pg_temp.spy()
returns boolean
language plpgsql
as $$
begin
  perform set_config('test.spied', current_setting('test.spied') || current_user || ' ', true);
  return true;
end
$$;
create domain pg_temp.text as pg_catalog.text check (pg_temp.spy());
create domain pg_temp.jsonb as pg_catalog.jsonb check (pg_temp.spy());
create domain pg_temp.uuid as pg_catalog.uuid check (pg_temp.spy());
create domain pg_temp.timestamptz as pg_catalog.timestamptz check (pg_temp.spy());
create domain pg_temp.int4 as pg_catalog.int4 check (pg_temp.spy());
select pg_temp.spy() where 'x'::pg_temp.text is not null;
select isnt(current_setting('test.spied'), '', 's11.5: the spy works');
select set_config('test.spied', '', true);
create temp table job_queue (like public.job_queue) on commit drop;
create temp table job_dead_letter (like public.job_dead_letter) on commit drop;
create temp table job_executor (like public.job_executor) on commit drop;
create temp table job_sweep (like public.job_sweep) on commit drop;
create temp table dot_config (key pg_catalog.text, value pg_catalog.text) on commit drop;
create temp table dot_iu_runtime_lease (like public.dot_iu_runtime_lease) on commit drop;
create temp table dot_iu_command_run (like public.dot_iu_command_run) on commit drop;
create temp table event_pending (like public.event_pending) on commit drop;
insert into pg_temp.dot_config values ('queue.retry.max_attempts.default', '1'),
  ('queue.job_substrate.enabled', 'false');
do $$
declare
  v_table pg_catalog.text;
begin
  foreach v_table in array array['job_queue', 'job_dead_letter', 'job_executor', 'job_sweep', 'dot_config', 'dot_iu_runtime_lease', 'dot_iu_command_run', 'event_pending'] loop
    execute format('grant all on pg_temp.%I to public', v_table);
  end loop;
end
$$;
select is(
    pg_temp.life('life_temp'),
    l.plain,
    's11.5: temporary tables and domains of the caller change no answer')
  from life l;
select is(
    (select count(*)::pg_catalog.int4 from pg_temp.job_queue),
    0,
    's11.5: no job went into the caller''s job_queue');
select is(
    (select count(*)::pg_catalog.int4 from pg_temp.dot_iu_command_run),
    0,
    's11.5: no audit row went into the caller''s table');
select ok(
    current_setting('test.spied') not like '%dot_queue_owner%',
    's11.5: no function of the caller ran as the owner');

-- And a search path that puts the caller's schema first, with functions and operators in it.
create schema hostile;
grant usage on schema hostile to public;
create function hostile.clock_timestamp() returns pg_catalog.timestamptz language sql as $$ select '1999-01-01'::pg_catalog.timestamptz $$;
create function hostile.gen_random_uuid() returns pg_catalog.uuid language sql as $$ select '00000000-0000-0000-0000-000000000000'::pg_catalog.uuid $$;
create function hostile.never(pg_catalog.uuid, pg_catalog.uuid) returns pg_catalog.bool language sql as $$ select pg_temp.spy() and false $$;
create function hostile.never(pg_catalog.text, pg_catalog.text) returns pg_catalog.bool language sql as $$ select pg_temp.spy() and false $$;
create operator hostile.
  = (leftarg = pg_catalog.uuid, rightarg = pg_catalog.uuid, function = hostile.never);
create operator hostile.
  = (leftarg = pg_catalog.text, rightarg = pg_catalog.text, function = hostile.never);
create view hostile.job_queue as select * from public.job_queue where false;
create function pg_temp.life_hostile()
returns pg_catalog.jsonb
language plpgsql
as $$
declare
  v_seen pg_catalog.jsonb;
begin
  perform pg_catalog.set_config('search_path', 'hostile, pg_temp, public, pg_catalog', true);
  v_seen := pg_temp.life('life_hostile');
  perform pg_catalog.set_config('search_path', 'public, tap', true);
  return v_seen;
end
$$;
select is(pg_temp.life_hostile(), l.plain, 's11.5: a hostile search path changes no answer')
  from life l;
select ok(
    current_setting('test.spied') not like '%dot_queue_owner%',
    's11.5: and none of its functions ran as the owner');
drop schema hostile cascade;
drop table pg_temp.job_queue, pg_temp.job_dead_letter, pg_temp.job_executor, pg_temp.job_sweep,
  pg_temp.dot_config, pg_temp.dot_iu_runtime_lease, pg_temp.dot_iu_command_run,
  pg_temp.event_pending;
drop domain pg_temp.text, pg_temp.jsonb, pg_temp.uuid, pg_temp.timestamptz, pg_temp.int4;

-- Who asked is the session user, not the role that is set -----------------------------------------------------------

create function pg_temp.answer_by(p_user text, p_query text)
returns jsonb
language plpgsql
as $$
declare
  v_answer jsonb;
begin
  perform set_config('session_authorization', p_user, true);
  v_answer := pg_catalog.jsonb_build_object('raised', 'nothing');
  begin
    execute p_query into v_answer;
  exception when others then
    v_answer := pg_catalog.jsonb_build_object('raised', sqlstate);
  end;
  reset session authorization;
  return v_answer;
end
$$;
select set_config('test.self', session_user, true);
select is(
    pg_temp.answer_by(
      current_setting('test.worker'),
      $$select public.fn_job_enqueue('dieu45_probe', 'test', 'dot_iu', 'probe', '{}')$$) ->> 'argument',
    'p_job_kind',
    's11.5: the kind of the probe is refused to a session that is no member of workflow_admin');
select is(
    pg_temp.answer_by(
      current_setting('test.admin'),
      $$select public.fn_job_enqueue('dieu45_probe', 'test', 'dot_iu', 'probe', '{}')$$) ->> 'created',
    'true',
    's11.5: and taken from one that is');
select is(
    (select r.actor || ' ' || r.session_role
       from public.dot_iu_command_run r
      where r.job_id = pg_temp.id('probe')),
    format('%1$s %1$s', current_setting('test.admin')),
    's11.5: the session user is recorded, whoever owns the function');
select pg_temp.answer_by(
    current_setting('test.worker'),
    $$select public.fn_job_enqueue('forged', 'test', 'dot_iu', 'forged', '{}', 0, null, 'the_council')$$);
select is(
    (select r.actor || ' ' || r.session_role
       from public.dot_iu_command_run r
      where r.job_id = pg_temp.id('forged')),
    format('the_council %s', current_setting('test.worker')),
    's11.5: an actor that claims to be another stands beside the session user');
select is(session_user::text, current_setting('test.self'), 's11.5: the suite is itself again');

-- Row level security would hide jobs in silence (F71) --------------------------------------------------------------

select is(
    (select count(*)::int
       from pg_class c
      where (c.relrowsecurity or c.relforcerowsecurity)
        and c.relname in ('job_queue', 'job_dead_letter', 'job_executor', 'job_sweep')),
    0,
    's11.5: no row level security hides a job');

select * from finish();
rollback;
