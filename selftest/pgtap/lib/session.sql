-- What every suite shares: names for jobs, calls whose errors are values, and time travel.
--
-- A suite calls the substrate through answer() and rows(), so that a call which raises is a failed
-- assertion with the error in it, not the end of the suite. Time moves by shifting rows into the past,
-- as a superuser; no clock is changed and nothing sleeps.
set local search_path = public, tap;
set local client_min_messages = warning;

-- A call's answer, or {"raised": sqlstate, "message": …, "detail": …} where it raised. The detail is
-- JSON where it parses: a refusal that is raised carries its object there (contract §5).
create function pg_temp.raised(p_sqlstate text, p_message text, p_detail text)
returns jsonb
language plpgsql
as $$
declare
  v_detail jsonb;
begin
  begin
    v_detail := p_detail::jsonb;
  exception when others then
    v_detail := to_jsonb(p_detail);
  end;
  return jsonb_build_object('raised', p_sqlstate, 'message', p_message, 'detail', v_detail);
end
$$;

-- The one value of a query that returns jsonb.
create function pg_temp.answer(p_query text, p_role text default null)
returns jsonb
language plpgsql
as $$
declare
  v_answer jsonb;
  v_detail text;
begin
  if p_role is not null then
    perform set_config('role', p_role, true);
  end if;
  execute p_query into v_answer;
  perform set_config('role', 'none', true);
  return v_answer;
exception when others then
  get stacked diagnostics v_detail = pg_exception_detail;
  return pg_temp.raised(sqlstate, sqlerrm, v_detail);
end
$$;

-- Every row of a query, as a JSON array in the order in which they came.
create function pg_temp.rows(p_query text, p_role text default null)
returns jsonb
language sql
as $$
  select pg_temp.answer(
    format('select coalesce(jsonb_agg(to_jsonb(r)), ''[]'') from (%s) r', p_query), p_role)
$$;

-- The reason of a refusal, returned or raised; 'done' for a success; the SQLSTATE of a raw error.
create function pg_temp.verdict(p_answer jsonb)
returns text
language sql
as $$
  select case
           when p_answer ->> 'raised' = 'D4500' then p_answer -> 'detail' ->> 'reason'
           when p_answer ? 'raised'
             then format('raw error %s: %s', p_answer ->> 'raised', p_answer ->> 'message')
           when p_answer -> 'refused' = 'true' then p_answer ->> 'reason'
           when p_answer -> 'refused' = 'false' then 'done'
           else format('neither done nor refused: %s', p_answer)
         end
$$;

-- Sorted keys of an object, for "exactly these keys".
create function pg_temp.keys(p_object jsonb)
returns text
language sql
as $$
  select string_agg(k, ' ' order by k collate "C") from jsonb_object_keys(p_object) k
$$;

-- Enqueues a job. Without a kind, the key is the kind too, so that a test claims its own job and no
-- other.
create function pg_temp.enqueue(
  p_key text,
  p_kind text default null,
  p_priority integer default null,
  p_process_after timestamptz default null
)
returns jsonb
language sql
as $$
  select pg_temp.answer(format(
    'select public.fn_job_enqueue(%L, ''test'', ''dot_iu'', %L, ''{"ref": 1}'', %L, %L, ''tester'')',
    coalesce(p_kind, p_key), p_key, p_priority, p_process_after))
$$;

-- The newest row of a key.
create function pg_temp.job(p_key text)
returns public.job_queue
language sql
as $$
  select q.*
    from public.job_queue q
   where q.idempotency_key = p_key
   order by q.enqueued_at desc
   limit 1
$$;

create function pg_temp.id(p_key text)
returns uuid
language sql
as $$ select (pg_temp.job(p_key)).job_id $$;

-- The token of the lease that is held, or of the one that ended last.
create function pg_temp.token(p_key text)
returns uuid
language sql
as $$ select coalesce((pg_temp.job(p_key)).lease_token, (pg_temp.job(p_key)).ended_token) $$;

-- Claims one job of a kind: the row that the claim returned, or null.
create function pg_temp.claim(p_kind text, p_ttl integer default null, p_holder text default 'worker')
returns jsonb
language sql
as $$
  select pg_temp.rows(format(
    'select * from public.fn_job_claim(array[%L], null, %L, %L)', p_kind, p_holder, p_ttl)) -> 0
$$;

-- Enqueues and claims in one.
create function pg_temp.hold(p_key text, p_ttl integer default null)
returns uuid
language sql
as $$
  select pg_temp.enqueue(p_key);
  select pg_temp.claim(p_key, p_ttl);
  select pg_temp.id(p_key)
$$;

-- Calls a lease function on a job with its right token; further arguments as SQL text.
create function pg_temp.call(p_function text, p_key text, p_more text default '')
returns jsonb
language sql
as $$
  select pg_temp.answer(format('select public.%I(%L::uuid, %L::uuid%s)',
    p_function, pg_temp.id(p_key), pg_temp.token(p_key),
    case when p_more = '' then '' else ', ' || p_more end))
$$;

create function pg_temp.fail(p_key text)
returns jsonb
language sql
as $$ select pg_temp.call('fn_job_fail_transient', p_key, $q$'E1', 'it failed'$q$) $$;

-- Moves one job, its mirror and its due time into the past.
create function pg_temp.age(p_key text, p_seconds double precision)
returns void
language plpgsql
as $$
declare
  v_past interval := make_interval(secs => p_seconds);
begin
  perform set_config('session_replication_role', 'replica', true);
  update public.job_queue q
     set process_after = q.process_after - v_past,
         enqueued_at = q.enqueued_at - v_past,
         leased_at = q.leased_at - v_past,
         leased_until = q.leased_until - v_past,
         first_failed_at = q.first_failed_at - v_past,
         last_error_at = q.last_error_at - v_past,
         finished_at = q.finished_at - v_past
   where q.idempotency_key = p_key;
  update public.dot_iu_runtime_lease l
     set acquired_at = l.acquired_at - v_past,
         expires_at = l.expires_at - v_past,
         renewed_at = l.renewed_at - v_past
   where l.lease_name = 'job:' || pg_temp.id(p_key)::text;
  perform set_config('session_replication_role', 'origin', true);
end
$$;

-- Lets a held lease run out a second ago.
create function pg_temp.expire(p_key text)
returns void
language sql
as $$
  select pg_temp.age(p_key,
    extract(epoch from (pg_temp.job(p_key)).leased_until - clock_timestamp())::double precision + 1)
$$;

-- Makes a waiting job due since a second ago.
create function pg_temp.make_due(p_key text)
returns void
language sql
as $$
  select pg_temp.age(p_key,
    extract(epoch from (pg_temp.job(p_key)).process_after - clock_timestamp())::double precision + 1)
$$;

-- Writes what no function would: triggers are silent, constraints are not.
create function pg_temp.plant(p_statement text)
returns void
language plpgsql
as $$
begin
  perform set_config('session_replication_role', 'replica', true);
  execute p_statement;
  perform set_config('session_replication_role', 'origin', true);
end
$$;

-- Changes columns of a job's row, as no function would.
create function pg_temp.set(p_key text, p_changes text)
returns void
language sql
as $$
  select pg_temp.plant(
    format('update public.job_queue q set %s where q.idempotency_key = %L', p_changes, p_key))
$$;

-- Sets a configuration value as an operator would; raises when it is refused.
create function pg_temp.configure(p_key text, p_value text)
returns void
language plpgsql
as $$
declare
  v_answer jsonb := pg_temp.answer(
    format('select public.fn_job_config_set(%L, %L, %L)', p_key, p_value, 'tester'));
begin
  if v_answer -> 'refused' is distinct from 'false' then
    raise exception 'cannot set % to %: %', p_key, p_value, v_answer;
  end if;
end
$$;

-- Everything but the audit, as one value: equal before and after means that nothing changed.
create function pg_temp.state()
returns text
language sql
as $$
  select md5(concat_ws('/',
    (select string_agg(t::text, '|' order by t::text) from public.job_queue t),
    (select string_agg(t::text, '|' order by t::text) from public.job_dead_letter t),
    (select string_agg(t::text, '|' order by t::text) from public.dot_iu_runtime_lease t),
    (select string_agg(t::text, '|' order by t::text) from public.event_pending t),
    (select string_agg(t::text, '|' order by t::text) from public.iu_route_dead_letter t),
    (select string_agg(t::text, '|' order by t::text) from public.job_executor t),
    (select string_agg(t::text, '|' order by t::text) from public.job_sweep t),
    (select string_agg(t::text, '|' order by t::text) from public.dot_config t)))
$$;

-- The audit since the last mark(): 'null>queued', 'queued>leased', 'refused not_leased', … in order.
create function pg_temp.mark()
returns void
language sql
as $$
  select set_config('test.mark', coalesce(max(r.run_seq), 0)::text, true)
    from public.dot_iu_command_run r
$$;

create function pg_temp.audited(p_job_id uuid default null)
returns text
language sql
as $$
  select coalesce(string_agg(
           case
             when r.refused then 'refused ' || r.reason
             else format('%s>%s', coalesce(r.status_from, 'null'), coalesce(r.status_to, 'null'))
           end, ', ' order by r.run_seq), '')
    from public.dot_iu_command_run r
   where r.run_seq > current_setting('test.mark')::bigint
     and (p_job_id is null or r.job_id = p_job_id)
$$;

select pg_temp.mark();
