-- The host's own tables: used as they are when they fit, refused with one error that lists
-- everything that does not fit. Nothing has been created when this raises. A column that we do not
-- know is welcome unless it is NOT NULL without a default, because our inserts could not fill it.
do $$
declare
  v_problems text;
begin
  with needed(table_name, column_name, type_name) as (
    values
      ('dot_config', 'key', 'text'),
      ('dot_config', 'value', 'text'),
      ('dot_config', 'description', 'text'),
      ('dot_config', 'updated_at', 'timestamp with time zone'),
      ('dot_config', 'updated_by', 'text'),
      ('dot_iu_runtime_lease', 'lease_name', 'text'),
      ('dot_iu_runtime_lease', 'lease_holder', 'text'),
      ('dot_iu_runtime_lease', 'lease_token', 'uuid'),
      ('dot_iu_runtime_lease', 'acquired_at', 'timestamp with time zone'),
      ('dot_iu_runtime_lease', 'expires_at', 'timestamp with time zone'),
      ('dot_iu_runtime_lease', 'renewed_at', 'timestamp with time zone'),
      ('iu_route_dead_letter', 'event_ref', null),
      ('iu_route_dead_letter', 'event_domain', 'text'),
      ('iu_route_dead_letter', 'event_type', 'text'),
      ('iu_route_dead_letter', 'route_code', 'text'),
      ('iu_route_dead_letter', 'failure_code', 'text'),
      ('iu_route_dead_letter', 'failure_detail', 'text'),
      ('iu_route_dead_letter', 'attempts', 'integer'),
      ('iu_route_dead_letter', 'first_failed_at', 'timestamp with time zone'),
      ('iu_route_dead_letter', 'last_failed_at', 'timestamp with time zone'),
      ('iu_route_dead_letter', 'resolved_at', 'timestamp with time zone'),
      ('iu_route_dead_letter', 'resolution', 'text'),
      ('iu_route_dead_letter', 'resolution_note', 'text'),
      ('event_pending', 'event_id', 'uuid'),
      ('event_pending', 'event_domain', 'text'),
      ('event_pending', 'event_type', 'text'),
      ('event_pending', 'severity', 'text'),
      ('event_pending', 'payload', 'jsonb'),
      ('event_pending', 'occurred_at', 'timestamp with time zone'),
      ('event_pending', 'error_count', 'integer'),
      ('event_pending', 'last_error', 'text'),
      ('dot_iu_command_run', 'run_seq', 'bigint'),
      ('dot_iu_command_run', 'command', 'text'),
      ('dot_iu_command_run', 'actor', 'text'),
      ('dot_iu_command_run', 'session_role', 'text'),
      ('dot_iu_command_run', 'job_id', 'uuid'),
      ('dot_iu_command_run', 'dead_letter_id', 'uuid'),
      ('dot_iu_command_run', 'status_from', 'text'),
      ('dot_iu_command_run', 'status_to', 'text'),
      ('dot_iu_command_run', 'attempt', 'integer'),
      ('dot_iu_command_run', 'refused', 'boolean'),
      ('dot_iu_command_run', 'reason', 'text'),
      ('dot_iu_command_run', 'detail', 'jsonb'),
      ('dot_iu_command_run', 'run_at', 'timestamp with time zone')
  ),
  host(table_name, oid, relkind) as (
    select distinct n.table_name, c.oid, c.relkind
      from needed n
      join pg_catalog.pg_class c on c.relname = n.table_name
       and c.relnamespace = 'public'::regnamespace
  ),
  problem(at, text) as (
    select h.table_name, format('%s is not an ordinary or partitioned table', h.table_name)
      from host h
     where h.relkind not in ('r', 'p')
    union all
    select n.table_name || '.' || n.column_name,
           case
             when a.attname is null then format('%s.%s is missing', n.table_name, n.column_name)
             else format('%s.%s is %s, not %s', n.table_name, n.column_name,
                         format_type(a.atttypid, null), n.type_name)
           end
      from needed n
      join host h on h.table_name = n.table_name
      left join pg_catalog.pg_attribute a on a.attrelid = h.oid
       and a.attname = n.column_name
       and not a.attisdropped
     where a.attname is null
        or (n.type_name is not null and format_type(a.atttypid, null) <> n.type_name)
    union all
    select h.table_name || '.' || a.attname,
           format('%s.%s is NOT NULL without a default, and unknown here', h.table_name, a.attname)
      from host h
      join pg_catalog.pg_attribute a on a.attrelid = h.oid
       and a.attnum > 0
       and not a.attisdropped
       and a.attnotnull
       and not a.atthasdef
       and a.attidentity = ''
     where not exists (
             select 1
               from needed n
              where n.table_name = h.table_name
                and n.column_name = a.attname
           )
    union all
    -- The upserts need these keys to be unique.
    select k.table_name || '.' || k.column_name,
           format('%s.%s has no primary key or unique constraint of its own', k.table_name,
                  k.column_name)
      from (values ('dot_config', 'key'),
                   ('dot_iu_runtime_lease', 'lease_name')) k(table_name, column_name)
      join host h on h.table_name = k.table_name
      join pg_catalog.pg_attribute a on a.attrelid = h.oid
       and a.attname = k.column_name
     where not exists (
             select 1
               from pg_catalog.pg_index i
              where i.indrelid = h.oid
                and i.indisunique
                and i.indpred is null
                and i.indnkeyatts = 1
                and i.indkey[0] = a.attnum
           )
  )
  select string_agg(p.text, E'\n' order by p.at, p.text)
    into v_problems
    from problem p;
  if v_problems is not null then
    raise exception using
      errcode = 'D4501',
      message = 'host tables do not fit; nothing was installed',
      detail = v_problems,
      hint = 'Change these columns, or map them in sql/host/, then install again.';
  end if;
end
$$;
