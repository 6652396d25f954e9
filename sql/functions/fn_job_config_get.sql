-- One configuration value (DP3 §3.2): what is configured, what is in force, and what is wrong with
-- it.
-- Answers {refused, key, value, in_force, default, problem}. Refusals: invalid_argument.
create function public.fn_job_config_get(p_key text)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_catalogue_key text := dot_queue.config_catalogue_key(p_key);
  v_value text;
  v_problem text;
  v_kind text;
begin
  if v_catalogue_key is null then
    return dot_queue.invalid_argument('p_key',
      case when p_key is null then 'required' else 'unknown key' end);
  end if;
  if v_catalogue_key <> p_key then
    v_kind := substr(p_key, length(v_catalogue_key) - length('default') + 1);
  end if;
  select v.value
    into v_value
    from dot_queue.config_value v
   where v.key = p_key;
  select p.problem
    into v_problem
    from dot_queue.config_problem p
   where p.key = p_key;
  return jsonb_build_object(
    'refused', false,
    'key', p_key,
    'value', v_value,
    'in_force', dot_queue.config(v_catalogue_key, v_kind),
    'default', (
      select k.default_value
        from dot_queue.config_catalogue k
       where k.key = v_catalogue_key
    ),
    'problem', v_problem);
end
$$;
