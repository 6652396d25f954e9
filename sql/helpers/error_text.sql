-- The code of a failure: cleaned, cut at 100, `unspecified` when there is none.
create function dot_queue.error_code(p_error_code text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(nullif(btrim(dot_queue.clean_text(p_error_code, 100)), ''), 'unspecified');
end
$$;

-- What the job row keeps of its last failure: code and message, the message cleaned and cut at
-- 4000.
create function dot_queue.error_text(p_error_code text, p_error_message text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return dot_queue.error_code(p_error_code)
    || coalesce(': ' || nullif(dot_queue.clean_text(p_error_message, 4000), ''), '');
end
$$;
