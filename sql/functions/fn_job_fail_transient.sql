-- Ends a lease with a failure that another attempt may cure (§8.1, §8.2, DP3 §3.3): below the
-- maximum the job waits for its back-off, at the maximum it is dead. The error texts may hold
-- anything: they are cleaned and cut, and the transition always happens.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, actor_required, job_not_found,
-- already_terminal, not_leased, lease_token_mismatch, lease_expired.
create function public.fn_job_fail_transient(
  p_job_id uuid,
  p_lease_token uuid,
  p_error_code text,
  p_error_message text,
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
  v_process_after timestamptz;
  v_outcome jsonb;
begin
  v_call := dot_queue.lease_call('fn_job_fail_transient', p_job_id, p_lease_token, p_actor, null,
                                 null);
  if v_call.answer is not null then
    return v_call.answer;
  end if;
  v_job := v_call.job;

  if v_job.attempts >= dot_queue.max_attempts(v_job.job_kind) then
    return dot_queue.dead_letter('fn_job_fail_transient', v_call.actor, p_job_id,
                                 dot_queue.error_code(p_error_code), p_error_message, v_call.at);
  end if;

  v_process_after := dot_queue.next_process_after(v_job.attempts, v_call.at);
  v_outcome := jsonb_build_object('refused', false, 'job_id', p_job_id, 'status_from', v_job.status,
                                  'status_to', 'retry_waiting', 'attempts', v_job.attempts,
                                  'process_after', v_process_after);
  update public.job_queue q
     set status = 'retry_waiting',
         process_after = v_process_after,
         lease_name = null,
         lease_holder = null,
         lease_token = null,
         leased_at = null,
         leased_until = null,
         ended_token = p_lease_token,
         ended_by = 'fn_job_fail_transient',
         ended_outcome = v_outcome,
         first_failed_at = coalesce(q.first_failed_at, v_call.at),
         last_error = dot_queue.error_text(p_error_code, p_error_message),
         last_error_at = v_call.at
   where q.job_id = p_job_id;
  perform dot_queue.mirror_drop(array[p_job_id]);
  perform dot_queue.audit('fn_job_fail_transient', v_call.actor, p_job_id, v_job.status,
                          'retry_waiting', v_job.attempts,
                          jsonb_build_object('error_code', dot_queue.error_code(p_error_code)));
  return v_outcome;
end
$$;
