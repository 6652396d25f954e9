-- Ends a lease with a failure that no attempt can cure (§8.5, DP3 §3.4): the job is dead at once,
-- its attempts raised to the maximum in the queue and kept true in the dead letter.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, actor_required,
-- acknowledgement_required, job_not_found, already_terminal, not_leased, lease_token_mismatch,
-- lease_expired.
create function public.fn_job_fail_permanent(
  p_job_id uuid,
  p_lease_token uuid,
  p_error_code text,
  p_error_message text,
  p_actor text default null,
  p_acknowledged_by text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_call record;
begin
  v_call := dot_queue.lease_call('fn_job_fail_permanent', p_job_id, p_lease_token, p_actor, null,
    case
      when p_acknowledged_by ~ '[^[:space:]]'
       and dot_queue.name_problem(p_acknowledged_by) is not null then
        dot_queue.invalid_argument('p_acknowledged_by', dot_queue.name_problem(p_acknowledged_by))
      when coalesce(p_acknowledged_by, '') !~ '[^[:space:]]'
       and dot_queue.config('queue.refusal.acknowledgement_required') = 'true' then
        dot_queue.refusal('acknowledgement_required')
    end);
  if v_call.answer is not null then
    return v_call.answer;
  end if;

  return dot_queue.dead_letter('fn_job_fail_permanent', v_call.actor, p_job_id,
                               dot_queue.error_code(p_error_code), p_error_message, v_call.at,
                               p_acknowledged_by);
end
$$;
