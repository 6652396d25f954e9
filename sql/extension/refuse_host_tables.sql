-- The extension form is for databases without a host: its host tables are members, created here.
-- Where one is there already, a dump would restore the wrong one first and lose rows.
do $$
declare
  v_tables text;
begin
  select string_agg(c.relname, ', ' order by c.relname)
    into v_tables
    from pg_catalog.pg_class c
   where c.relnamespace = 'public'::regnamespace
     and c.relname in ('dot_config', 'dot_iu_runtime_lease', 'iu_route_dead_letter',
                       'event_pending', 'dot_iu_command_run');
  if v_tables is not null then
    raise exception using
      errcode = 'D4501',
      message = 'this database has host tables of its own: ' || v_tables,
      hint = 'Use sql/install.sql, which keeps them.';
  end if;
end
$$;
