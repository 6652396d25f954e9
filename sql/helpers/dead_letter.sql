-- What attempts becomes when a job dies: a permanent failure spends the whole budget (DP3 §3.4),
-- but the dead letter keeps the true count.
create function dot_queue.attempts_at_death(p_command text, p_attempts integer, p_job_kind text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_command = 'fn_job_fail_permanent'
      then greatest(p_attempts, dot_queue.max_attempts(p_job_kind))
    else p_attempts
  end;
end
$$;

-- Kills held jobs (§8.4, DP3 §3.4), whose rows the caller has locked: the dead letter, copied from
-- the job row on the server and never from an argument; the end of the lease; the event; the audit.
-- p_ended_by is the function whose answer a lost reply can ask for again.
create function dot_queue.dead_letters(
  p_command text,
  p_actor text,
  p_job_ids uuid[],
  p_failure_code text,
  p_failure_detail text,
  p_now timestamptz,
  p_lost_events uuid[] default '{}',
  p_acknowledged_by text default null
)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lost uuid[];
begin
  -- A job has one open dead letter. If a hand has left one open under a live job, it is brought up
  -- to date: the death must not fail for it.
  insert into public.job_dead_letter as d
    (job_id, job_kind, event_domain, executor, idempotency_key, failure_code, failure_detail,
     attempts, job_snapshot, first_failed_at, last_failed_at)
  select q.job_id, q.job_kind, q.event_domain, q.executor, q.idempotency_key, p_failure_code,
         dot_queue.clean_text(p_failure_detail, 4000), q.attempts,
         to_jsonb(q) - 'lease_token' - 'ended_token' - 'ended_outcome',
         coalesce(q.first_failed_at, p_now), p_now
    from public.job_queue q
   where q.job_id = any (p_job_ids)
   order by q.job_id
      on conflict (job_id) where resolved_at is null do update
     set failure_code = excluded.failure_code,
         failure_detail = excluded.failure_detail,
         attempts = excluded.attempts,
         job_snapshot = excluded.job_snapshot,
         last_failed_at = excluded.last_failed_at;

  update public.job_queue q
     set status = 'dead_letter',
         attempts = dot_queue.attempts_at_death(p_command, q.attempts, q.job_kind),
         lease_name = null,
         lease_holder = null,
         lease_token = null,
         leased_at = null,
         leased_until = null,
         ended_token = q.lease_token,
         ended_by = p_command,
         ended_outcome = jsonb_build_object(
           'refused', false,
           'job_id', q.job_id,
           'status_from', q.status,
           'status_to', 'dead_letter',
           'attempts', dot_queue.attempts_at_death(p_command, q.attempts, q.job_kind),
           'dead_letter_id', d.dead_letter_id),
         first_failed_at = coalesce(q.first_failed_at, p_now),
         last_error = dot_queue.error_text(p_failure_code, p_failure_detail),
         last_error_at = p_now,
         finished_at = p_now
    from public.job_dead_letter d
   where q.job_id = any (p_job_ids)
     and d.job_id = q.job_id
     and d.resolved_at is null;
  perform dot_queue.mirror_drop(p_job_ids);

  v_lost := p_lost_events || dot_queue.emit('queue_job_dead_lettered', array(
    select jsonb_build_object('job_id', d.job_id, 'dead_letter_id', d.dead_letter_id,
                              'job_kind', d.job_kind)
      from public.job_dead_letter d
     where d.job_id = any (p_job_ids)
       and d.resolved_at is null
  ));
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, dead_letter_id, status_from, status_to, attempt, refused,
     detail, run_at)
  select p_command, coalesce(p_actor, session_user), session_user, d.job_id, d.dead_letter_id,
         d.job_snapshot ->> 'status', 'dead_letter', q.attempts, false,
         jsonb_strip_nulls(jsonb_build_object(
           'failure_code', d.failure_code,
           'attempts_made', d.attempts,
           'acknowledged_by', p_acknowledged_by,
           'event_lost', case when d.job_id = any (v_lost) then true end)),
         clock_timestamp()
    from public.job_dead_letter d
    join public.job_queue q on q.job_id = d.job_id
   where d.job_id = any (p_job_ids)
     and d.resolved_at is null;
end
$$;

-- The same for one job, with the answer of the call.
create function dot_queue.dead_letter(
  p_command text,
  p_actor text,
  p_job_id uuid,
  p_failure_code text,
  p_failure_detail text,
  p_now timestamptz,
  p_acknowledged_by text default null
)
returns jsonb
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_outcome jsonb;
begin
  perform dot_queue.dead_letters(p_command, p_actor, array[p_job_id], p_failure_code,
                                 p_failure_detail, p_now, '{}', p_acknowledged_by);
  select q.ended_outcome
    into v_outcome
    from public.job_queue q
   where q.job_id = p_job_id;
  return v_outcome;
end
$$;
