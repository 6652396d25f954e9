-- Claims the best claimable job of these kinds, or none (§5.2, §8.3, DP3 §3.1). Returns 0 or 1 row;
-- with the substrate off, none. A refusal is raised as D4500 (contract of §8.5 for row-returning
-- functions).
-- Refusals: isolation_level, invalid_argument, config_invalid.
create function public.fn_job_claim(
  p_kinds text[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer default null
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
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select *
    from dot_queue.claim_rows('fn_job_claim', p_kinds, p_lease_name, p_lease_holder,
                              p_lease_ttl_seconds, 1);
end
$$;
