-- Records what a person decided of a dead letter (§8.4, DLQ governance). Writes the dead letter's
-- triage columns and nothing else; a NULL note keeps the note that is there. Works while the
-- substrate is off.
-- Refusals: isolation_level, invalid_argument, invalid_triage_status, actor_required,
-- dead_letter_not_found.
create function public.fn_job_dead_letter_triage_update(
  p_dead_letter_id uuid,
  p_triage_status text,
  p_actor text,
  p_triage_note text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_allowed text[] := array['pending', 'acknowledged', 'manual_replay', 'escalated', 'closed'];
  v_actor text := coalesce(p_actor, session_user);
  v_refusal jsonb;
  v_from text;
  v_now timestamptz;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_dead_letter_triage_update'),
    case when p_dead_letter_id is null then
      dot_queue.invalid_argument('p_dead_letter_id', 'required')
    end,
    case when p_triage_status is null then
      dot_queue.invalid_argument('p_triage_status', 'required')
    end,
    case when p_triage_status <> all (v_allowed) then
      dot_queue.refusal('invalid_triage_status',
        jsonb_build_object('got', left(p_triage_status, 200), 'allowed', to_jsonb(v_allowed)))
    end,
    dot_queue.actor_refusal(p_actor),
    case when char_length(p_triage_note) > 4000 then
      dot_queue.invalid_argument('p_triage_note', 'longer than 4000 characters')
    end);
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_dead_letter_triage_update', p_actor, null, v_refusal,
                            p_dead_letter_id);
  end if;

  select d.triage_status
    into v_from
    from public.job_dead_letter d
   where d.dead_letter_id = p_dead_letter_id
     for update;
  v_now := clock_timestamp();
  if not found then
    return dot_queue.refuse('fn_job_dead_letter_triage_update', v_actor, null,
      dot_queue.refusal('dead_letter_not_found',
        jsonb_build_object('dead_letter_id', p_dead_letter_id)),
      p_dead_letter_id);
  end if;

  update public.job_dead_letter d
     set triage_status = p_triage_status,
         triage_note = coalesce(p_triage_note, d.triage_note),
         triaged_at = v_now,
         triaged_by = v_actor
   where d.dead_letter_id = p_dead_letter_id;
  perform dot_queue.audit('fn_job_dead_letter_triage_update', v_actor, null, null, null, null,
    jsonb_build_object('triage_status_from', v_from, 'triage_status_to', p_triage_status,
                       'triage_note', p_triage_note),
    p_dead_letter_id);
  return jsonb_build_object('refused', false, 'dead_letter_id', p_dead_letter_id,
                            'triage_status_from', v_from, 'triage_status_to', p_triage_status,
                            'triaged_at', v_now, 'triaged_by', v_actor);
end
$$;
