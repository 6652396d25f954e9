-- Claims up to p_limit jobs under the rules of fn_job_claim, returned in claim order (§10.1). A
-- claim that is rolled back leaves no trace. Refusals, raised as D4500: isolation_level,
-- invalid_argument, config_invalid.
create function public.fn_job_claim_batch(
  p_kinds text[],
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer default null,
  p_limit integer default 1
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
    from dot_queue.claim_rows('fn_job_claim_batch', p_kinds, p_lease_name, p_lease_holder,
                              p_lease_ttl_seconds, coalesce(p_limit, 1));
end
$$;
