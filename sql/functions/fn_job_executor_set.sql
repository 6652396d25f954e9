-- Registers an executor for a kind, or '*' for all, or takes it away with p_enabled false (§11.5).
-- Jobs that are already queued keep running; the gap view names those whose executor was taken
-- away.
-- Answers {refused, executor, job_kind, enabled}. Refusals: isolation_level, invalid_argument,
-- actor_required.
create function public.fn_job_executor_set(
  p_executor text,
  p_job_kind text,
  p_enabled boolean,
  p_actor text default null
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := dot_queue.name_problem(p_executor);
  v_kind_problem text := case
    when p_job_kind is distinct from '*' then dot_queue.kind_problem(p_job_kind)
  end;
  v_refusal jsonb;
  v_from boolean;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_executor_set'),
    case when v_problem is not null then dot_queue.invalid_argument('p_executor', v_problem) end,
    case when v_kind_problem is not null then
      dot_queue.invalid_argument('p_job_kind', v_kind_problem)
    end,
    case when p_enabled is null then dot_queue.invalid_argument('p_enabled', 'required') end,
    dot_queue.actor_refusal(p_actor));
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_executor_set', p_actor, null, v_refusal);
  end if;

  loop
    -- Under the row's lock: of two writers, the later must see what the earlier wrote.
    select e.enabled
      into v_from
      from public.job_executor e
     where e.executor = p_executor
       and e.job_kind = p_job_kind
       for update;
    if found then
      update public.job_executor e
         set enabled = p_enabled,
             updated_at = clock_timestamp(),
             updated_by = coalesce(p_actor, session_user)
       where e.executor = p_executor
         and e.job_kind = p_job_kind;
      exit;
    end if;
    insert into public.job_executor (executor, job_kind, enabled, updated_at, updated_by)
    values (p_executor, p_job_kind, p_enabled, clock_timestamp(), coalesce(p_actor, session_user))
    on conflict on constraint job_executor_pkey do nothing;
    exit when found;
  end loop;
  perform dot_queue.audit('fn_job_executor_set', p_actor, null, null, null, null,
    jsonb_build_object('executor', p_executor, 'job_kind', p_job_kind, 'enabled_from', v_from,
                       'enabled_to', p_enabled));
  return jsonb_build_object('refused', false, 'executor', p_executor, 'job_kind', p_job_kind,
                            'enabled', p_enabled);
end
$$;
