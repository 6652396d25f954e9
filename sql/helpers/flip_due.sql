-- Makes at most p_limit due rows of one kind claimable and says how many (§8.1, §5.2). For a
-- retry_waiting row this is the transition to queued and has its audit row; for a queued row whose
-- time has come it is none. Skips what is locked. A row that cannot be written stops no other
-- (§10.1): it joins `bad`, the rows that are not to be tried.
create function dot_queue.flip_due(
  p_command text,
  p_actor text,
  p_job_kind text,
  p_limit integer,
  p_now timestamptz,
  inout bad uuid[] default '{}',
  out flipped integer
)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
  v_id uuid;
begin
  flipped := 0;
  loop
    v_ids := array(
      select q.job_id
        from public.job_queue q
       where q.job_kind = p_job_kind
         and not q.claimable
         and q.status in ('queued', 'retry_waiting')
         and q.process_after <= p_now
         and q.job_id <> all (bad)
       order by q.process_after
       limit (select p_limit - flipped)
         for update skip locked
    );
    exit when cardinality(v_ids) = 0;
    begin
      perform dot_queue.flip_rows(p_command, p_actor, v_ids);
      flipped := flipped + cardinality(v_ids);
    exception when others then
      foreach v_id in array v_ids loop
        begin
          perform dot_queue.flip_rows(p_command, p_actor, array[v_id]);
          flipped := flipped + 1;
        exception when others then
          bad := bad || v_id;
        end;
      end loop;
    end;
    exit when flipped >= p_limit;
  end loop;
end
$$;

-- Flips rows that the caller has locked.
create function dot_queue.flip_rows(p_command text, p_actor text, p_job_ids uuid[])
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, status_from, status_to, attempt, refused, run_at)
  select p_command, coalesce(p_actor, session_user), session_user, q.job_id, 'retry_waiting',
         'queued', q.attempts, false, clock_timestamp()
    from public.job_queue q
   where q.job_id = any (p_job_ids)
     and q.status = 'retry_waiting';
  update public.job_queue q
     set status = 'queued',
         claimable = true
   where q.job_id = any (p_job_ids);
end
$$;

-- The kinds that have a due row, found by hopping from kind to kind along the index: as many probes
-- as there are kinds, however many rows wait.
create function dot_queue.due_kinds(p_now timestamptz)
returns table (job_kind text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_earliest timestamptz;
begin
  job_kind := '';
  loop
    -- The first entry of the next kind is its earliest row. Asked with the time in WHERE, the
    -- planner may expect a due row anywhere in the table, and scan it.
    select q.job_kind, q.process_after
      into job_kind, v_earliest
      from public.job_queue q
     where q.job_kind > due_kinds.job_kind
       and not q.claimable
       and q.status in ('queued', 'retry_waiting')
     order by q.job_kind, q.process_after
     limit 1;
    exit when not found;
    if v_earliest <= p_now then
      return next;
    end if;
  end loop;
end
$$;
