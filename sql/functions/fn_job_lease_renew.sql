-- Moves the end of a live lease (§8.3): to least(now + ttl, leased_at + max_hold_seconds). Never
-- shortens it, never resurrects one that is over. Writes no audit row of its own, only that of a
-- refusal.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, job_not_found, already_terminal,
-- not_leased, lease_token_mismatch, lease_expired, lease_held_too_long.
create function public.fn_job_lease_renew(
  p_job_id uuid,
  p_lease_token uuid,
  p_lease_ttl_seconds integer default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := dot_queue.ttl_problem(p_lease_ttl_seconds);
  v_call record;
  v_job public.job_queue;
  v_ttl_seconds integer;
  v_longest timestamptz;
  v_until timestamptz;
begin
  v_call := dot_queue.lease_call('fn_job_lease_renew', p_job_id, p_lease_token, null,
    case when v_problem is not null then
      dot_queue.invalid_argument('p_lease_ttl_seconds', v_problem)
    end, null);
  if v_call.answer is not null then
    return v_call.answer;
  end if;
  v_job := v_call.job;

  v_longest := v_job.leased_at
    + make_interval(secs => dot_queue.config('queue.lease.max_hold_seconds')::integer);
  if v_longest <= v_job.leased_until then
    return dot_queue.refuse('fn_job_lease_renew', v_call.actor, p_job_id,
      dot_queue.refusal('lease_held_too_long',
        jsonb_build_object('job_id', p_job_id, 'status', v_job.status,
                           'leased_until', v_job.leased_until)));
  end if;

  v_ttl_seconds := coalesce(p_lease_ttl_seconds,
    dot_queue.config('queue.lease.ttl_seconds.default', v_job.job_kind)::integer);
  v_until := greatest(v_job.leased_until,
                      least(v_call.at + make_interval(secs => v_ttl_seconds), v_longest));
  update public.job_queue q
     set leased_until = v_until
   where q.job_id = p_job_id;
  perform dot_queue.mirror_move(p_job_id, v_until, v_call.at);
  return jsonb_build_object('refused', false, 'job_id', p_job_id, 'status_from', v_job.status,
                            'status_to', v_job.status, 'attempts', v_job.attempts,
                            'leased_until', v_until);
end
$$;
