-- Sets one configuration value, checked against the catalogue and against the other values, and
-- audited (DP3 §3.2, §7). A NULL value removes a kind's own key, and only such a key.
-- Answers {refused, key, value_from, value_to}. Refusals: isolation_level, invalid_argument,
-- actor_required.
create function public.fn_job_config_set(p_key text, p_value text, p_actor text default null)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refusal jsonb;
  v_from text;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_config_set'),
    case
      when p_key is null then dot_queue.invalid_argument('p_key', 'required')
      when dot_queue.config_catalogue_key(p_key) is null then
        dot_queue.invalid_argument('p_key', 'unknown key')
      when p_value is null and dot_queue.config_catalogue_key(p_key) = p_key then
        dot_queue.invalid_argument('p_value', 'required: only a kind''s own key can be removed')
    end,
    -- What is wrong with the value by itself comes before the actor, in the order of the arguments;
    -- whether it fits the other values is known only once it is written.
    (
      select dot_queue.invalid_argument('p_value', v.problem)
        from (
               select dot_queue.config_value_problem(k.value_type, k.min_value, k.max_value,
                                                     k.choices, p_value) as problem
                 from dot_queue.config_catalogue k
                where k.key = dot_queue.config_catalogue_key(p_key)
                  and p_value is not null
             ) v
       where v.problem is not null
    ),
    dot_queue.actor_refusal(p_actor));
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_config_set', p_actor, null, v_refusal);
  end if;

  begin
    loop
      -- Under the row's lock: of two writers of one key, the later must see what the earlier wrote.
      select c.value
        into v_from
        from dot_queue.host_config c
       where c.key = p_key
         for update;
      if found and p_value is null then
        delete from dot_queue.host_config c
         where c.key = p_key;
      elsif found then
        update dot_queue.host_config c
           set value = p_value,
               updated_at = clock_timestamp(),
               updated_by = coalesce(p_actor, session_user)
         where c.key = p_key;
      end if;
      exit when found or p_value is null;
      insert into dot_queue.host_config (key, value, updated_at, updated_by)
      values (p_key, p_value, clock_timestamp(), coalesce(p_actor, session_user))
      on conflict (key) do nothing;
      exit when found;
    end loop;
  exception when sqlstate 'D4500' then
    get stacked diagnostics v_from = pg_exception_detail;
    return dot_queue.refuse('fn_job_config_set', p_actor, null, v_from::jsonb - 'key');
  end;
  perform dot_queue.audit('fn_job_config_set', p_actor, null, null, null, null,
    jsonb_build_object('key', p_key, 'value_from', v_from, 'value_to', p_value));
  return jsonb_build_object('refused', false, 'key', p_key, 'value_from', v_from,
                            'value_to', p_value);
end
$$;
