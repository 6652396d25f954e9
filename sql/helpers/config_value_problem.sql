-- What is wrong with one configured value by the catalogue's word, or NULL. The only judge of a
-- value: reading, writing and reporting all ask it.
create function dot_queue.config_value_problem(
  p_value_type text,
  p_min_value bigint,
  p_max_value bigint,
  p_choices text[],
  p_value text
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value is null then
    return 'no value';
  end if;
  if p_value_type = 'boolean' and p_value not in ('true', 'false') then
    return 'must be true or false';
  end if;
  if p_value_type = 'choice' and p_value <> all (p_choices) then
    return 'must be one of ' || array_to_string(p_choices, ', ');
  end if;
  if p_value_type = 'integer' and p_value !~ '^[0-9]{1,10}$' then
    return 'must be a whole number';
  end if;
  if p_value_type = 'integer' and p_value::bigint not between p_min_value and p_max_value then
    return format('must be from %s to %s', p_min_value, p_max_value);
  end if;
  return null;
end
$$;
