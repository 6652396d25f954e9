-- Ground to stand on: a known search path for the rest of the transaction, and a server that is new
-- enough.
set local search_path = pg_catalog, pg_temp;
set local client_min_messages = warning;
set local standard_conforming_strings = on;
set local check_function_bodies = on;

do $$
begin
  if current_setting('server_version_num')::integer < 130000 then
    raise exception using
      errcode = 'D4501',
      message = format('PostgreSQL %s is too old: 13 or newer is needed',
                       current_setting('server_version'));
  end if;
  if has_schema_privilege('public', 'public', 'create') then
    raise warning using
      message = 'PUBLIC may create objects in schema public',
      hint = 'revoke create on schema public from public;';
  end if;
end
$$;
