-- The safety net (§8.3, §15.5, DP3 §3.6): ends leases that have expired, oldest first, skipping
-- what is locked. Set-based; row by row only when that raises, so that a row which cannot be
-- written is reported and stops no other. Such a row does not count toward the limit.
-- Answers {refused, reaped, dead_lettered, skipped: [{job_id, sqlstate}], runtime_leases_deleted};
-- reaped counts every lease that ended, dead_lettered those of them whose job died.
-- Refusals: substrate_disabled, isolation_level, invalid_argument, reaper_disabled.
create function public.fn_job_lease_reaper(p_limit integer default 1000)
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started_at timestamptz := clock_timestamp();
  v_limit integer := coalesce(p_limit, 1000);
  v_refusal jsonb;
  v_now timestamptz;
  v_ids uuid[];
  v_id uuid;
  v_bad uuid[] := array[]::uuid[];
  v_skipped jsonb := jsonb_build_array();
  v_done integer := 0;
  v_dead integer := 0;
  v_leases integer;
  v_counts jsonb;
begin
  v_refusal := coalesce(
    dot_queue.gate('fn_job_lease_reaper'),
    case when v_limit not between 1 and 100000 then
      dot_queue.invalid_argument('p_limit', 'must be from 1 to 100000')
    end,
    case when dot_queue.config('queue.lease_reaper.enabled') = 'false' then
      dot_queue.refusal('reaper_disabled')
    end);
  if v_refusal is not null then
    return dot_queue.refuse('fn_job_lease_reaper', null, null, v_refusal);
  end if;

  loop
    v_now := clock_timestamp();
    v_ids := array(
      select q.job_id
        from public.job_queue q
       where q.status in ('leased', 'in_progress')
         and q.leased_until <= v_now
         and q.job_id <> all (v_bad)
       order by q.leased_until
       limit (select v_limit - v_done)
         for update skip locked
    );
    exit when cardinality(v_ids) = 0;
    begin
      v_dead := v_dead + dot_queue.reap_rows(v_ids, v_now);
      v_done := v_done + cardinality(v_ids);
    exception when others then
      foreach v_id in array v_ids loop
        begin
          v_dead := v_dead + dot_queue.reap_rows(array[v_id], v_now);
          v_done := v_done + 1;
        exception when others then
          v_bad := v_bad || v_id;
          v_skipped := v_skipped || jsonb_build_object('job_id', v_id, 'sqlstate', sqlstate);
        end;
      end loop;
    end;
    exit when v_done >= v_limit;
  end loop;

  v_leases := dot_queue.delete_expired_runtime_leases(v_limit, clock_timestamp());
  v_counts := jsonb_build_object('reaped', v_done, 'dead_lettered', v_dead, 'skipped', v_skipped,
                                 'runtime_leases_deleted', v_leases);
  insert into public.job_sweep (command, started_at, finished_at, counts)
  values ('fn_job_lease_reaper', v_started_at, clock_timestamp(), v_counts);
  return jsonb_build_object('refused', false) || v_counts;
end
$$;
