-- Ends the leases of these jobs, which are locked and expired (§8.3, §8.1, DP3 §3.6). At the
-- maximum the job is dead, or one that kills its worker would run for ever; below it the job waits
-- for its back-off. The outer UPDATE asks again for status and expiry: a list of ids is not a
-- proof. Returns how many died.
create function dot_queue.reap_rows(p_job_ids uuid[], p_now timestamptz)
returns integer
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead uuid[];
  v_lost uuid[];
begin
  v_lost := dot_queue.emit('queue_lease_reaped', array(
    select jsonb_build_object('job_id', q.job_id, 'job_kind', q.job_kind)
      from public.job_queue q
     where q.job_id = any (p_job_ids)
  ));
  v_dead := array(
    select q.job_id
      from public.job_queue q
     where q.job_id = any (p_job_ids)
       and q.attempts >= dot_queue.max_attempts(q.job_kind)
  );
  if cardinality(v_dead) > 0 then
    perform dot_queue.dead_letters('fn_job_lease_reaper', null, v_dead,
                                   'lease_expired_reaped_at_max_attempts', null, p_now, v_lost);
  end if;

  with moved as (
    update public.job_queue q
       set status = 'retry_waiting',
           process_after = dot_queue.next_process_after(q.attempts, p_now),
           lease_name = null,
           lease_holder = null,
           lease_token = null,
           leased_at = null,
           leased_until = null,
           ended_token = q.lease_token,
           ended_by = 'fn_job_lease_reaper',
           ended_outcome = jsonb_build_object('refused', false, 'job_id', q.job_id,
                                              'status_from', q.status, 'status_to', 'retry_waiting',
                                              'attempts', q.attempts),
           first_failed_at = coalesce(q.first_failed_at, p_now),
           last_error = 'lease_expired',
           last_error_at = p_now
     where q.job_id = any (p_job_ids)
       and q.status in ('leased', 'in_progress')
       and q.leased_until <= p_now
    returning q.job_id, q.attempts, q.ended_outcome
  )
  insert into dot_queue.host_run
    (command, actor, session_role, job_id, status_from, status_to, attempt, refused, detail, run_at)
  select 'fn_job_lease_reaper', session_user, session_user, m.job_id,
         m.ended_outcome ->> 'status_from', 'retry_waiting', m.attempts, false,
         jsonb_strip_nulls(jsonb_build_object(
           'error_code', 'lease_expired',
           'event_lost', case when m.job_id = any (v_lost) then true end)),
         clock_timestamp()
    from moved m;
  perform dot_queue.mirror_drop(p_job_ids);
  return cardinality(v_dead);
end
$$;

-- Deletes expired rows of the host's lease table and returns how many (DP3 §3.6), but never the
-- mirror of a lease that is held. The job row is locked before its mirror is, as everywhere: a
-- claim of that job must not find the mirror locked and wait.
create function dot_queue.delete_expired_runtime_leases(p_limit integer, p_now timestamptz)
returns integer
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[];
  v_held text[];
  v_deleted integer;
begin
  v_names := array(
    select l.lease_name
      from dot_queue.host_lease l
     where l.expires_at <= p_now
     order by l.expires_at
     limit (select p_limit)
  );
  -- A job row that another session has locked counts as held: the next sweep will see.
  with jobs as (
    select q.job_id
      from public.job_queue q
     where q.job_id = any (array(
             select substr(n.lease_name, 5)::uuid
               from unnest(v_names) n(lease_name)
              where n.lease_name ~ '^job:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
           ))
  ),
  free as (
    select q.job_id
      from public.job_queue q
     where q.job_id = any (array(select j.job_id from jobs j))
       and q.status not in ('leased', 'in_progress')
       for update skip locked
  )
  select array(
           select 'job:' || j.job_id
             from jobs j
            where not exists (select 1 from free f where f.job_id = j.job_id)
         )
    into v_held;
  delete from dot_queue.host_lease l
   where l.lease_name = any (array(
           select e.lease_name
             from dot_queue.host_lease e
            where e.lease_name = any (v_names)
              and e.lease_name <> all (v_held)
              and e.expires_at <= p_now
              for update skip locked
         ));
  get diagnostics v_deleted = row_count;
  return v_deleted;
end
$$;
