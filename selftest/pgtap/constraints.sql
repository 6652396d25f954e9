-- Invariants as constraints (§6.7, §7): a statement written by hand, as a superuser, cannot bring the
-- tables into a state that no function makes.
begin;
\ir lib/session.sql
select plan(52);

select pg_temp.enqueue('queued');
select pg_temp.hold('leased');
select pg_temp.hold('waiting');
select pg_temp.fail('waiting');
select pg_temp.hold('done');
select pg_temp.call('fn_job_succeed', 'done');

create function pg_temp.tried(p_statement text)
returns text
language plpgsql
as $$
begin
  execute p_statement;
  return 'accepted';
exception
  when check_violation or not_null_violation or unique_violation then
    return 'refused';
end
$$;

-- Each statement by itself; what is accepted would be seen as such.
select is(
    pg_temp.tried(
      format('update public.job_queue set %s where idempotency_key = %L', b.change, b.key)),
    'refused',
    format('s6.7: %s', b.what))
  from (values ('a state that is none', 'queued', 'status = ''lost'''),
    ('a state in capitals', 'queued', 'status = ''Queued'''),
    ('no state', 'queued', 'status = null'),
    ('leased without a lease', 'queued', 'status = ''leased'', claimable = false, attempts = 1'),
    (
        'in progress without a lease',
        'queued',
        'status = ''in_progress'', claimable = false, attempts = 1'),
    ('queued with a lease', 'leased', 'status = ''queued'''),
    ('waiting with a lease', 'leased', 'status = ''retry_waiting'''),
    ('succeeded with a lease', 'leased', 'status = ''succeeded'', finished_at = now()'),
    ('dead with a lease', 'leased', 'status = ''dead_letter'', finished_at = now()'),
    ('leased without a name', 'leased', 'lease_name = null'),
    ('leased without a holder', 'leased', 'lease_holder = null'),
    ('leased without a token', 'leased', 'lease_token = null'),
    ('leased without a beginning', 'leased', 'leased_at = null'),
    ('leased without an end', 'leased', 'leased_until = null'),
    ('queued with a token', 'queued', 'lease_token = gen_random_uuid()'),
    ('queued with an end', 'queued', 'leased_until = now()'),
    ('leased for ever', 'leased', 'leased_until = ''infinity'''),
    ('claimable while leased', 'leased', 'claimable = true'),
    ('claimable while waiting', 'waiting', 'claimable = true'),
    ('claimable when done', 'done', 'claimable = true'),
    ('neither claimable nor not', 'queued', 'claimable = null'),
    ('a due time that never comes', 'queued', 'process_after = ''infinity'''),
    ('a due time before all time', 'queued', 'process_after = ''-infinity'''),
    ('an infinite age', 'queued', 'enqueued_at = ''-infinity'''),
    ('an infinite failure', 'waiting', 'first_failed_at = ''infinity'''),
    ('an infinite last error', 'waiting', 'last_error_at = ''infinity'''),
    ('an infinite end', 'done', 'finished_at = ''infinity'''),
    ('fewer than no attempts', 'queued', 'attempts = -1'),
    ('a payload that is an array', 'queued', 'payload = ''[]'''),
    ('a payload that is a text', 'queued', 'payload = ''"x"'''),
    ('a payload that is JSON null', 'queued', 'payload = ''null'''),
    ('no payload', 'queued', 'payload = null'),
    (
        'a payload that is too large',
        'queued',
        'payload = jsonb_build_object(''a'', repeat(''x'', 8192))'),
    (
        'a payload with a vector',
        'queued',
        'payload = (select jsonb_build_object(''v'', jsonb_agg(n)) from generate_series(1, 65) n)'),
    ('a reserved kind', 'queued', 'job_kind = ''lease_reaper'''),
    ('the kind default', 'queued', 'job_kind = ''default'''),
    ('a kind in capitals', 'queued', 'job_kind = ''Queued'''),
    ('a kind with a line end', 'queued', 'job_kind = E''queued\n'''),
    ('a kind of 64 characters', 'queued', 'job_kind = repeat(''k'', 64)'),
    ('an empty key', 'queued', 'idempotency_key = '''''),
    ('a key of 201 characters', 'queued', 'idempotency_key = repeat(''k'', 201)'),
    ('a key with a control character', 'queued', 'idempotency_key = E''a\x01'''),
    ('an empty domain', 'queued', 'event_domain = '''''),
    ('an executor of 201 characters', 'queued', 'executor = repeat(''e'', 201)'),
    ('a holder with a control character', 'leased', 'lease_holder = E''a\x7f'''),
    ('an empty lease name', 'leased', 'lease_name = ''''')) b(what, key, change);

select is(
    pg_temp.tried(
      $$insert into public.job_queue (job_kind, event_domain, executor, idempotency_key, payload)
  values ('x', 'x', 'dot_iu', 'queued', '{}')$$),
    'refused',
    's7: a second active job of a key');
select is(
    pg_temp.tried(
      $$update public.job_queue set idempotency_key = 'queued' where idempotency_key = 'waiting'$$),
    'refused',
    's7: an active job that takes another''s key');
select is(
    pg_temp.tried(
      $$insert into public.job_queue (job_kind, event_domain, executor, idempotency_key, payload)
  values ('x', 'x', 'dot_iu', 'done', '{}')$$),
    'accepted',
    's7: a key whose job is over is free');
select is(
    pg_temp.tried(
      $$insert into public.job_executor (executor, job_kind) values ('x', 'Not A Kind')$$),
    'refused',
    's6.7: an executor of a kind that cannot be');
select is(
    pg_temp.tried($$insert into public.job_executor (executor, job_kind) values ('', '*')$$),
    'refused',
    's6.7: an executor without a name');
select is(
    pg_temp.tried($$insert into public.job_executor (executor, job_kind) values ('dot_iu', '*')$$),
    'refused',
    's6.7: an executor twice');

select * from finish();
rollback;
