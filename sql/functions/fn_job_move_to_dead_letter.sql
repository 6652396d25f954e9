-- Moves a held job to its dead letter (DP3 §3.4). Internal: no role may call it. The failure paths
-- and the reaper go through the same helper.
-- Refusals: invalid_argument, job_not_found, already_terminal, not_leased.
create function public.fn_job_move_to_dead_letter(
  p_job_id uuid,
  p_failure_code text,
  p_failure_detail text
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
  v_status text;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_move_to_dead_letter'),
    case when p_job_id is null then dot_queue.invalid_argument('p_job_id', 'required') end);
  if v_refusal is null then
    select q.status
      into v_status
      from public.job_queue q
     where q.job_id = p_job_id
       for update;
    v_refusal := case
      when not found then dot_queue.refusal('job_not_found', jsonb_build_object('job_id', p_job_id))
      when v_status in ('succeeded', 'dead_letter', 'cleaned') then
        dot_queue.refusal('already_terminal',
          jsonb_build_object('job_id', p_job_id, 'status', v_status))
      when v_status in ('queued', 'retry_waiting') then
        dot_queue.refusal('not_leased',
          jsonb_build_object('job_id', p_job_id, 'status', v_status))
    end;
  end if;
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_move_to_dead_letter', null, p_job_id, v_refusal);
  end if;
  return dot_queue.dead_letter('fn_job_move_to_dead_letter', null, p_job_id,
                               dot_queue.error_code(p_failure_code), p_failure_detail,
                               clock_timestamp());
end
$$;
