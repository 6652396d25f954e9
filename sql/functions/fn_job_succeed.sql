-- Ends a lease with success (§6.7). A leased job passes through in_progress in the same statement,
-- and the audit shows both steps. Asked again with the token that succeeded, it answers the same
-- and adds already_applied.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, actor_required, job_not_found,
-- already_terminal, not_leased, lease_token_mismatch, lease_expired.
create function public.fn_job_succeed(
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
  v_outcome jsonb;
begin
  v_call := dot_queue.lease_call('fn_job_succeed', p_job_id, p_lease_token, p_actor, null, null);
  if v_call.answer is not null then
    return v_call.answer;
  end if;
  v_job := v_call.job;

  v_outcome := jsonb_build_object('refused', false, 'job_id', p_job_id, 'status_from', v_job.status,
                                  'status_to', 'succeeded', 'attempts', v_job.attempts);
  update public.job_queue q
     set status = 'succeeded',
         lease_name = null,
         lease_holder = null,
         lease_token = null,
         leased_at = null,
         leased_until = null,
         ended_token = p_lease_token,
         ended_by = 'fn_job_succeed',
         ended_outcome = v_outcome,
         finished_at = v_call.at
   where q.job_id = p_job_id;
  perform dot_queue.mirror_drop(array[p_job_id]);
  if v_job.status = 'leased' then
    perform dot_queue.audit('fn_job_succeed', v_call.actor, p_job_id, 'leased', 'in_progress',
                            v_job.attempts);
  end if;
  perform dot_queue.audit('fn_job_succeed', v_call.actor, p_job_id, 'in_progress', 'succeeded',
                          v_job.attempts);
  return v_outcome;
end
$$;
