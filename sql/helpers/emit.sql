-- Emits one warning event for each payload and returns the jobs whose event was lost. References
-- only. A failing insert must not undo the transition: it is caught here, and the caller writes
-- event_lost into the audit row, where the gap view finds it (§15.5).
create function dot_queue.emit(p_event_type text, p_payloads jsonb[])
returns uuid[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_payload jsonb;
  v_lost uuid[] := array[]::uuid[];
begin
  begin
    insert into dot_queue.host_event (event_domain, event_type, severity, payload, occurred_at)
    select 'system', p_event_type, 'warning', p.payload, clock_timestamp()
      from unnest(p_payloads) p(payload);
    return v_lost;
  exception when others then
    null;
  end;
  -- One of them cannot be stored: find out which, and keep the others.
  foreach v_payload in array p_payloads loop
    begin
      insert into dot_queue.host_event (event_domain, event_type, severity, payload, occurred_at)
      values ('system', p_event_type, 'warning', v_payload, clock_timestamp());
    exception when others then
      v_lost := v_lost || (v_payload ->> 'job_id')::uuid;
    end;
  end loop;
  return v_lost;
end
$$;
