-- One row of the audit trail (Điều 35). Its failure undoes the transition it would have recorded.
create function dot_queue.audit(
  p_command text,
  p_actor text,
  p_job_id uuid,
  p_status_from text,
  p_status_to text,
  p_attempt integer,
  p_detail jsonb default null,
  p_dead_letter_id uuid default null
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, dead_letter_id, status_from, status_to, attempt, refused,
     detail, run_at)
  values (p_command, coalesce(p_actor, session_user), session_user, p_job_id, p_dead_letter_id,
          p_status_from, p_status_to, p_attempt, false, p_detail, clock_timestamp());
end
$$;

-- Records a refusal (Điều 31) and hands it back, so that a caller can return it in one line. The
-- actor may be the very argument that was refused, so it is cleaned here.
create function dot_queue.refuse(
  p_command text,
  p_actor text,
  p_job_id uuid,
  p_refusal jsonb,
  p_dead_letter_id uuid default null
)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, dead_letter_id, refused, reason, detail, run_at)
  values (p_command,
          coalesce(nullif(btrim(dot_queue.clean_text(p_actor, 200)), ''), session_user),
          session_user, p_job_id, p_dead_letter_id, true, p_refusal ->> 'reason',
          p_refusal - 'refused' - 'reason', clock_timestamp());
  return p_refusal;
end
$$;
