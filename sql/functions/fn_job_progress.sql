-- Says that the work has begun or goes on (§6.7): leased → in_progress; again it only records. Does
-- not extend the lease.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, actor_required, job_not_found,
-- already_terminal, not_leased, lease_token_mismatch, lease_expired.
create function public.fn_job_progress(
  p_job_id uuid,
  p_lease_token uuid,
  p_actor text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_call record;
  v_job public.job_queue;
begin
  v_call := dot_queue.lease_call('fn_job_progress', p_job_id, p_lease_token, p_actor, null, null);
  if v_call.answer is not null then
    return v_call.answer;
  end if;
  v_job := v_call.job;

  update public.job_queue q
     set status = 'in_progress'
   where q.job_id = p_job_id;
  perform dot_queue.audit('fn_job_progress', v_call.actor, p_job_id, v_job.status, 'in_progress',
                          v_job.attempts);
  return jsonb_build_object('refused', false, 'job_id', p_job_id, 'status_from', v_job.status,
                            'status_to', 'in_progress', 'attempts', v_job.attempts,
                            'leased_until', v_job.leased_until);
end
$$;
