-- What a requeue would do, without doing anything (§8.4, DLQ governance): the operator reads
-- would_action. The first obstacle wins: the gate, a dead letter that is resolved, a live job of
-- the same key.
-- Refusals: invalid_argument, dead_letter_not_found.
create function public.fn_job_dead_letter_requeue_dry_run(p_dead_letter_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_letter public.job_dead_letter;
  v_enabled boolean := dot_queue.config('queue.dlq.replay_enabled') = 'true';
  v_active uuid;
begin
  if p_dead_letter_id is null then
    return dot_queue.invalid_argument('p_dead_letter_id', 'required');
  end if;
  select *
    into v_letter
    from public.job_dead_letter d
   where d.dead_letter_id = p_dead_letter_id;
  if not found then
    return dot_queue.refusal('dead_letter_not_found',
      jsonb_build_object('dead_letter_id', p_dead_letter_id));
  end if;
  select q.job_id
    into v_active
    from public.job_queue q
   where q.idempotency_key = v_letter.idempotency_key
     and q.status in ('queued', 'leased', 'in_progress', 'retry_waiting');
  return jsonb_build_object(
    'mutation', false,
    'evaluated_at', clock_timestamp(),
    'replay_gate_enabled', v_enabled,
    'dead_letter_id', v_letter.dead_letter_id,
    'job_id_original', v_letter.job_id,
    'job_kind', v_letter.job_kind,
    'triage_status', v_letter.triage_status,
    'final_error', v_letter.failure_code,
    'attempts_at_failure', v_letter.attempts,
    'idempotency_key', v_letter.idempotency_key,
    'idempotency_collision',
      case
        when v_active is null then jsonb_build_object('blocked', false)
        else jsonb_build_object('blocked', true, 'active_job_id', v_active)
      end,
    'would_action',
      case
        when not v_enabled then 'refused: queue.dlq.replay_enabled=false'
        when v_letter.resolved_at is not null then 'refused: already_resolved'
        when v_active is not null then 'refused: idempotency_collision'
        else 'preview_only: Phase 2 ships no apply-side requeue'
      end);
end
$$;
