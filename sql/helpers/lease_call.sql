-- What every call that needs the lease asks, in the order of the refusal contract (§8.5): may it
-- run, are the arguments good, is there such a job; then, with the row locked: was this very ending
-- already applied, is the job over, is it held, by this token, still. An expired lease is over even
-- when the reaper has not come yet: an outcome never depends on when it ran.
--
-- Answers with `answer` set when the call ends here (a refusal, recorded, or the ending that was
-- already applied). Otherwise `answer` is NULL, the row is locked, and job, actor and the time
-- after the lock are what the caller goes on with. The two p_…_refusal are what the caller found
-- wrong with arguments of its own, before and after the actor in their order.
create function dot_queue.lease_call(
  p_command text,
  p_job_id uuid,
  p_lease_token uuid,
  p_actor text,
  p_before_actor_refusal jsonb,
  p_after_actor_refusal jsonb,
  out answer jsonb,
  out job public.job_queue,
  out actor text,
  out at timestamptz
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
  v_reason text;
begin
  v_refusal := coalesce(
    dot_queue.gate(p_command),
    case when p_job_id is null then dot_queue.invalid_argument('p_job_id', 'required') end,
    case when p_lease_token is null then
      dot_queue.invalid_argument('p_lease_token', 'required')
    end,
    p_before_actor_refusal,
    dot_queue.actor_refusal(p_actor),
    p_after_actor_refusal);
  if v_refusal is not null then
    answer := dot_queue.refuse(p_command, p_actor, p_job_id, v_refusal);
    return;
  end if;

  select *
    into job
    from public.job_queue q
   where q.job_id = p_job_id
     for update;
  at := clock_timestamp();
  if not found then
    v_refusal := dot_queue.refusal('job_not_found', jsonb_build_object('job_id', p_job_id));
    answer := dot_queue.refuse(p_command, p_actor, null, v_refusal);
    return;
  end if;

  -- The token is compared before it is believed: only who held the lease learns how it ended.
  if job.ended_token = p_lease_token and job.ended_by = p_command then
    answer := job.ended_outcome || jsonb_build_object('already_applied', true);
    return;
  end if;

  v_reason := case
    when job.status in ('succeeded', 'dead_letter', 'cleaned') then 'already_terminal'
    when job.status in ('queued', 'retry_waiting') then 'not_leased'
    when job.lease_token is distinct from p_lease_token then 'lease_token_mismatch'
    when job.leased_until <= at then 'lease_expired'
  end;
  if v_reason is not null then
    v_refusal := dot_queue.refusal(v_reason,
      jsonb_build_object('job_id', p_job_id, 'status', job.status));
    answer := dot_queue.refuse(p_command, p_actor, p_job_id, v_refusal);
    return;
  end if;
  actor := coalesce(p_actor, job.lease_holder);
end
$$;
