-- The claim (§5.2, §8.3, DP3 §3.1), for one job or many: the ids that were granted, in claim order.
-- Never waits for a lock, and locks no row that it does not take, but for the due rows that it
-- flips.
create function dot_queue.claim(
  p_command text,
  p_kinds text[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer,
  p_limit integer
)
returns uuid[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kinds text[];
  v_now timestamptz;
  v_kind text;
  v_ids uuid[];
  v_id uuid;
  v_bad uuid[] := array[]::uuid[];
  v_granted uuid[] := array[]::uuid[];
begin
  v_kinds := array(select distinct k.kind from unnest(p_kinds) k(kind));

  -- Make due rows claimable, once a cheap probe has said that there are any. The clock, not now():
  -- a long transaction's now() stands still. In a variable: a volatile call in WHERE loses the
  -- index.
  if dot_queue.config('queue.retry.promoter') = 'claim' then
    v_now := clock_timestamp();
    for v_kind in
      select k.kind
        from unnest(v_kinds) k(kind)
       where (
               select q.process_after
                 from public.job_queue q
                where q.job_kind = k.kind
                  and not q.claimable
                  and q.status in ('queued', 'retry_waiting')
                order by q.process_after
                limit 1
             ) <= v_now
    loop
      perform dot_queue.flip_due(p_command, p_lease_holder, v_kind, 100, v_now);
    end loop;
  end if;

  loop
    if cardinality(v_kinds) = 1 then
      v_ids := array(
        select q.job_id
          from public.job_queue q
         where q.job_kind = v_kinds[1]
           and q.status = 'queued'
           and q.claimable
           and q.job_id <> all (v_bad)
         order by q.priority desc, q.enqueued_at, q.job_id
         limit (select p_limit - cardinality(v_granted))
           for update skip locked
      );
    else
      v_ids := dot_queue.lock_heads(v_kinds, p_limit - cardinality(v_granted), v_bad);
    end if;
    exit when cardinality(v_ids) = 0;
    begin
      perform dot_queue.grant_leases(p_command, v_ids, p_lease_name, p_lease_holder,
                                     p_lease_ttl_seconds);
      v_granted := v_granted || v_ids;
    exception when others then
      -- One row that cannot be written must not stop every claim of its kind.
      foreach v_id in array v_ids loop
        begin
          perform dot_queue.grant_leases(p_command, array[v_id], p_lease_name, p_lease_holder,
                                         p_lease_ttl_seconds);
          v_granted := v_granted || v_id;
        exception when others then
          v_bad := v_bad || v_id;
        end;
      end loop;
    end;
    exit when cardinality(v_granted) >= p_limit or cardinality(v_bad) = 0;
  end loop;
  return v_granted;
end
$$;

-- The best p_limit claimable rows of several kinds, locked. Reads the head of each kind's index
-- without locks, merges them in claim order, and locks one by one with a re-check: a lateral
-- subquery per kind with FOR UPDATE would lock the head of every kind. A kind whose head was read
-- to its end may hide a better row behind it, so the merge stops there and looks deeper.
create function dot_queue.lock_heads(p_kinds text[], p_limit integer, p_bad uuid[])
returns uuid[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_depth integer := 2 * p_limit + 16;
  v_seen uuid[] := p_bad;
  v_ids uuid[] := array[]::uuid[];
  v_head record;
  v_deeper boolean;
begin
  loop
    v_deeper := false;
    for v_head in
      select h.job_id, h.place
        from unnest(p_kinds) k(kind)
       cross join lateral (
               select q.job_id,
                      q.priority,
                      q.enqueued_at,
                      row_number() over (order by q.priority desc, q.enqueued_at, q.job_id) as place
                 from public.job_queue q
                where q.job_kind = k.kind
                  and q.status = 'queued'
                  and q.claimable
                  and q.job_id <> all (v_seen)
                order by q.priority desc, q.enqueued_at, q.job_id
                limit (select v_depth)
             ) h
       order by h.priority desc, h.enqueued_at, h.job_id
    loop
      perform 1
         from public.job_queue q
        where q.job_id = v_head.job_id
          and q.status = 'queued'
          and q.claimable
          for update skip locked;
      if found then
        v_ids := v_ids || v_head.job_id;
      end if;
      v_seen := v_seen || v_head.job_id;
      if cardinality(v_ids) >= p_limit then
        return v_ids;
      end if;
      if v_head.place = v_depth then
        v_deeper := true;
        exit;
      end if;
    end loop;
    if not v_deeper then
      return v_ids;
    end if;
    v_depth := least(v_depth * 2, 10000);
  end loop;
end
$$;

-- Grants a lease on each of these rows, which the caller has locked: a new token each, the time
-- read after the lock, the mirror, the audit.
create function dot_queue.grant_leases(
  p_command text,
  p_job_ids uuid[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  update public.job_queue q
     set status = 'leased',
         claimable = false,
         attempts = q.attempts + 1,
         lease_name = coalesce(p_lease_name, 'job:' || q.job_id),
         lease_holder = p_lease_holder,
         lease_token = gen_random_uuid(),
         leased_at = v_now,
         leased_until = v_now + make_interval(secs => coalesce(p_lease_ttl_seconds,
           dot_queue.config('queue.lease.ttl_seconds.default', q.job_kind)::integer))
   where q.job_id = any (p_job_ids);
  perform dot_queue.mirror_put(p_job_ids);
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, status_from, status_to, attempt, refused, run_at)
  select p_command, p_lease_holder, session_user, q.job_id, 'queued', 'leased', q.attempts, false,
         clock_timestamp()
    from public.job_queue q
   where q.job_id = any (p_job_ids);
end
$$;

-- What is wrong with a claim's arguments or with the configuration it needs, or NULL (§8.5).
create function dot_queue.claim_refusal(
  p_kinds text[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer,
  p_limit integer
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_argument text;
  v_problem text;
begin
  v_argument := 'p_kinds';
  v_problem := case
    when coalesce(cardinality(p_kinds), 0) = 0 then 'required'
    when cardinality(p_kinds) > 1000 then 'more than 1000 kinds'
    else (
      select k.problem
        from (
               select dot_queue.kind_problem(u.kind) as problem, u.place
                 from unnest(p_kinds) with ordinality u(kind, place)
             ) k
       where k.problem is not null
       order by k.place
       limit 1
    )
  end;
  if v_problem is null and p_lease_name is not null then
    v_argument := 'p_lease_name';
    v_problem := dot_queue.name_problem(p_lease_name);
  end if;
  if v_problem is null then
    v_argument := 'p_lease_holder';
    v_problem := dot_queue.name_problem(p_lease_holder);
  end if;
  if v_problem is null then
    v_argument := 'p_lease_ttl_seconds';
    v_problem := dot_queue.ttl_problem(p_lease_ttl_seconds);
  end if;
  if v_problem is null and p_limit not between 1 and 1000 then
    v_argument := 'p_limit';
    v_problem := 'must be from 1 to 1000';
  end if;
  if v_problem is not null then
    return dot_queue.invalid_argument(v_argument, v_problem);
  end if;
  return dot_queue.config_refusal(
    array['queue.job_substrate.enabled', 'queue.lease.ttl_seconds.default',
          'queue.lease.min_ttl_seconds', 'queue.lease.max_ttl_seconds', 'queue.retry.promoter',
          'queue.retry.max_attempts.default'],
    p_kinds);
end
$$;

-- The whole of a claim call, for both public forms: gate, arguments, configuration, grant, and the
-- rows.
create function dot_queue.claim_rows(
  p_command text,
  p_kinds text[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer,
  p_limit integer
)
returns table (
  job_id uuid,
  lease_token uuid,
  leased_until timestamptz,
  job_kind text,
  event_domain text,
  executor text,
  payload jsonb,
  priority integer,
  attempts integer,
  max_attempts integer,
  enqueued_at timestamptz
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
  v_ids uuid[];
begin
  v_refusal := dot_queue.gate(p_command);
  if v_refusal ->> 'reason' = 'substrate_disabled' then
    return;
  end if;
  v_refusal := coalesce(v_refusal, dot_queue.claim_refusal(p_kinds, p_lease_name, p_lease_holder,
                                                           p_lease_ttl_seconds, p_limit));
  if v_refusal is not null then
    perform dot_queue.raise_refusal(v_refusal);
  end if;
  v_ids := dot_queue.claim(p_command, p_kinds, p_lease_name, p_lease_holder, p_lease_ttl_seconds,
                           p_limit);
  return query
  select q.job_id,
         q.lease_token,
         q.leased_until,
         q.job_kind,
         q.event_domain,
         q.executor,
         q.payload,
         q.priority,
         q.attempts,
         dot_queue.max_attempts(q.job_kind),
         q.enqueued_at
    from unnest(v_ids) with ordinality g(id, place)
    join public.job_queue q on q.job_id = g.id
   order by g.place;
end
$$;
