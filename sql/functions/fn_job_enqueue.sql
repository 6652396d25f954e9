-- Puts a job into the queue, once per active idempotency key (§7). Answers {refused, created,
-- job_id, status, finished?}: the same active key and content again is created: false; one that has
-- just finished adds finished: true.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, payload_not_signal,
-- actor_required, config_invalid, unknown_executor, idempotency_conflict.
create function public.fn_job_enqueue(
  p_job_kind text,
  p_event_domain text,
  p_executor text,
  p_idempotency_key text,
  p_payload jsonb,
  p_priority integer default 0,
  p_process_after timestamptz default null,
  p_actor text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_enqueue'),
    dot_queue.enqueue_refusal(p_job_kind, p_event_domain, p_executor, p_idempotency_key, p_payload,
                              p_process_after, p_actor));
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_enqueue', p_actor, null, v_refusal);
  end if;
  return dot_queue.enqueue_one('fn_job_enqueue', p_job_kind, p_event_domain, p_executor,
                               p_idempotency_key, p_payload, p_priority, p_process_after, p_actor);
end
$$;
