-- Inserts the default configuration, the executor that the rule ships (dot_iu, for every kind) and
-- the time of the install, where they are absent (DP3 §10). Idempotent. install.sql calls it; with
-- the extension its user does, because an extension script must not insert into a table that is
-- dumped.
-- Answers {refused, inserted}. Refusals: isolation_level.
create function public.fn_job_seed()
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb := dot_queue.gate('fn_job_seed');
  v_inserted integer;
  v_rows integer;
begin
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_seed', null, null, v_refusal);
  end if;
  insert into dot_queue.host_config (key, value, description, updated_at, updated_by)
  select k.key, k.default_value, k.description, clock_timestamp(), session_user
    from dot_queue.config_catalogue k
   where not exists (
           select 1
             from dot_queue.host_config c
            where c.key = k.key
         )
      on conflict (key) do nothing;
  get diagnostics v_inserted = row_count;
  insert into public.job_executor (executor, job_kind, enabled, updated_at, updated_by)
  values ('dot_iu', '*', true, clock_timestamp(), session_user)
  on conflict on constraint job_executor_pkey do nothing;
  get diagnostics v_rows = row_count;
  v_inserted := v_inserted + v_rows;
  insert into dot_queue.release (release)
  values ('2.0')
  on conflict on constraint release_pkey do nothing;
  get diagnostics v_rows = row_count;
  v_inserted := v_inserted + v_rows;
  if v_inserted > 0 then
    perform dot_queue.audit('fn_job_seed', null, null, null, null, null,
                            jsonb_build_object('inserted', v_inserted));
  end if;
  return jsonb_build_object('refused', false, 'inserted', v_inserted);
end
$$;
