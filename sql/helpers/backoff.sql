-- The delay before the next attempt, in seconds (§8.2, DP3 §3.2): the named strategy, capped, then
-- jittered, so the bound is [0.8, 1.2] × least(cap, raw). The exponent is clamped before the power:
-- no attempt count, base or cap can make a failure call raise. Cap 0 means constant.
create function dot_queue.backoff_seconds(
  p_attempts integer,
  p_strategy text,
  p_base_seconds integer,
  p_cap_seconds integer,
  p_jitter double precision
)
returns double precision
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_jitter * case
    when p_cap_seconds = 0 then p_base_seconds::double precision
    else least(
      p_cap_seconds::double precision,
      p_base_seconds::double precision * case p_strategy
        when 'exponential' then power(2::double precision, least(greatest(p_attempts - 1, 0), 60))
        when 'linear' then greatest(p_attempts, 1)::double precision
        else 1::double precision
      end)
  end;
end
$$;

-- The same with the configuration in force. Volatile: each row of a statement has its own jitter.
create function dot_queue.next_process_after(p_attempts integer, p_now timestamptz)
returns timestamptz
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_now + make_interval(secs => dot_queue.backoff_seconds(
    p_attempts,
    dot_queue.config('queue.retry.backoff.strategy'),
    dot_queue.config('queue.retry.backoff.base_seconds')::integer,
    dot_queue.config('queue.retry.backoff.cap_seconds')::integer,
    0.8 + random() * 0.4));
end
$$;
