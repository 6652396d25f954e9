-- The mirror of a job lease in the host's lease table (DP3 §3.1): job:<job_id>, written with the
-- lease, moved by renewals, gone when the lease ends. The caller holds the lock of the job row.
create function dot_queue.mirror_put(p_job_ids uuid[])
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A row that is left under this name belongs to a lease that is over.
  insert into dot_queue.host_lease (lease_name, lease_holder, lease_token, acquired_at, expires_at)
  select 'job:' || q.job_id, q.lease_holder, q.lease_token, q.leased_at, q.leased_until
    from public.job_queue q
   where q.job_id = any (p_job_ids)
      on conflict (lease_name) do update
     set lease_holder = excluded.lease_holder,
         lease_token = excluded.lease_token,
         acquired_at = excluded.acquired_at,
         expires_at = excluded.expires_at,
         renewed_at = null;
end
$$;

create function dot_queue.mirror_move(p_job_id uuid, p_leased_until timestamptz, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  update dot_queue.host_lease l
     set expires_at = p_leased_until,
         renewed_at = p_now
   where l.lease_name = 'job:' || p_job_id;
end
$$;

create function dot_queue.mirror_drop(p_job_ids uuid[])
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from dot_queue.host_lease l
   where l.lease_name = any (array(select 'job:' || j.job_id from unnest(p_job_ids) j(job_id)));
end
$$;
