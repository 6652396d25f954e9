-- Enqueues up to 1000 jobs (§10.1): result i belongs to item i, and a refused item undoes no other.
-- Item keys are the argument names of fn_job_enqueue without p_. Inserts in key order: two batches
-- in opposite order would otherwise deadlock on each other's keys.
-- Answers {refused, results: [as fn_job_enqueue]}. An item may be refused as by fn_job_enqueue, or
-- item_failed {sqlstate} when its row cannot be written.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, actor_required, item_failed.
create function public.fn_job_enqueue_batch(p_jobs jsonb, p_actor text default null)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
  v_results jsonb[];
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_enqueue_batch'),
    case
      when p_jobs is null then dot_queue.invalid_argument('p_jobs', 'required')
      when jsonb_typeof(p_jobs) <> 'array' then
        dot_queue.invalid_argument('p_jobs', 'must be an array')
      when jsonb_array_length(p_jobs) > 1000 then
        dot_queue.invalid_argument('p_jobs', 'more than 1000 items')
    end,
    dot_queue.actor_refusal(p_actor));
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_enqueue_batch', p_actor, null, v_refusal);
  end if;
  begin
    v_results := dot_queue.enqueue_items(p_jobs, p_actor, false);
  exception when others then
    -- One item cannot be written: store each by itself, so that the others are.
    v_results := dot_queue.enqueue_items(p_jobs, p_actor, true);
  end;
  return jsonb_build_object('refused', false, 'results', to_jsonb(v_results));
end
$$;
