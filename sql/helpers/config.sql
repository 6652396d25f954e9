-- The value of a key that is in force: the kind's own when there is a good one, then the key's,
-- then the catalogue's default. Never fails, so that the failure path never does; what is wrong is
-- shown by the gap view. For a per-kind family p_key is the one that ends in .default.
create function dot_queue.config(p_key text, p_job_kind text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value text;
begin
  select c.value
    into v_value
    from dot_queue.config_catalogue k
    join dot_queue.host_config c on c.key = any (array[p_key, left(p_key, -7) || p_job_kind])
   where k.key = p_key
     and (c.value = k.default_value
          or dot_queue.config_value_problem(k.value_type, k.min_value, k.max_value, k.choices,
                                            c.value) is null)
   order by c.key = p_key
   limit 1;
  if not found then
    select k.default_value
      into strict v_value
      from dot_queue.config_catalogue k
     where k.key = p_key;
  end if;
  return v_value;
end
$$;

-- The refusal of the first of these keys whose configured value is bad, or NULL: enqueue and claim
-- refuse it. For a per-kind family the own keys of p_kinds are looked at too.
create function dot_queue.config_refusal(p_keys text[], p_kinds text[] default '{}')
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
begin
  select w.key
    into v_key
    from (
           select a.key as catalogue_key, a.key, a.place
             from unnest(p_keys) with ordinality a(key, place)
           union all
           select a.key, left(a.key, -7) || n.kind, a.place
             from unnest(p_keys) with ordinality a(key, place)
            cross join unnest(p_kinds) n(kind)
            where a.key like '%.default'
         ) w
    join dot_queue.host_config c on c.key = w.key
    join dot_queue.config_catalogue k on k.key = w.catalogue_key
   where c.value is distinct from k.default_value
     and dot_queue.config_value_problem(k.value_type, k.min_value, k.max_value, k.choices, c.value)
           is not null
   order by w.place, w.key
   limit 1;
  if found then
    return dot_queue.refusal('config_invalid', jsonb_build_object('key', v_key));
  end if;
  return null;
end
$$;

-- How many claims a job of this kind may have (§8.1).
create function dot_queue.max_attempts(p_job_kind text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return dot_queue.config('queue.retry.max_attempts.default', p_job_kind)::integer;
end
$$;

-- What is wrong with a lease length that a caller asks for, or NULL (§8.3).
create function dot_queue.ttl_problem(p_ttl_seconds integer)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_min integer;
  v_max integer;
begin
  if p_ttl_seconds is null then
    return null;
  end if;
  v_min := dot_queue.config('queue.lease.min_ttl_seconds')::integer;
  v_max := dot_queue.config('queue.lease.max_ttl_seconds')::integer;
  if p_ttl_seconds not between v_min and v_max then
    return format('must be from %s to %s', v_min, v_max);
  end if;
  return null;
end
$$;

-- Refuses a bad value at write (§15.5: a typo must never fail open). An AFTER trigger, so that
-- rules between values see the whole statement.
create function dot_queue.config_guard()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text;
begin
  -- Two writers who each keep a rule could break it together.
  perform pg_advisory_xact_lock(hashtext('dieu45.config'));
  select p.problem
    into v_problem
    from dot_queue.config_problem p
   where p.key = new.key
     and p.kind = 'invalid'
   limit 1;
  if found then
    perform dot_queue.raise_refusal(dot_queue.invalid_argument('p_value', v_problem)
      || jsonb_build_object('key', new.key));
  end if;
  return null;
end
$$;

-- The catalogue's key for a configuration key: itself, or the family's .default for a kind's own
-- key; NULL when the catalogue knows neither.
create function dot_queue.config_catalogue_key(p_key text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select k.key
      from dot_queue.config_catalogue k
     where k.key = p_key
        or (k.per_kind
            and k.key = regexp_replace(p_key, '[.][a-z][a-z0-9_]{0,62}$', '.default')
            and p_key !~ '[.]lease_reaper$')
  );
end
$$;
