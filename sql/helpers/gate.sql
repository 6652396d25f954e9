-- What every mutating call asks first (§5): is the substrate on, and is this READ COMMITTED? Under
-- REPEATABLE READ a lock on a row that has changed raises 40001, which is no coded answer.
create function dot_queue.gate(p_command text)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Triage and configuration work while the substrate is off (DLQ governance: gated by nothing).
  if p_command not in ('fn_job_dead_letter_triage_update', 'fn_job_config_set',
                       'fn_job_executor_set', 'fn_job_seed')
     and dot_queue.config('queue.job_substrate.enabled') = 'false' then
    return dot_queue.refusal('substrate_disabled');
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    return dot_queue.refusal('isolation_level',
      jsonb_build_object('got', current_setting('transaction_isolation')));
  end if;
  return null;
end
$$;
