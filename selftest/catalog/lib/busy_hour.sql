-- A little of everything, ended by a sweep: what rules over the data look at in a throwaway database.
-- A live database has data of its own, and this is not run there.
do $$
declare
  v_key text;
  v_job record;
begin
  foreach v_key in array array['ready', 'held', 'progressing', 'done', 'failed', 'dead', 'renewed'] loop
    perform public.fn_job_enqueue('hour_' || v_key, 'test', 'dot_iu', 'hour_' || v_key, '{}');
    continue when v_key = 'ready';
    select * into v_job from public.fn_job_claim(array['hour_' || v_key], null, 'worker');
    case v_key
      when 'progressing' then perform public.fn_job_progress(v_job.job_id, v_job.lease_token);
      when 'done' then perform public.fn_job_succeed(v_job.job_id, v_job.lease_token);
      when 'failed' then perform public.fn_job_fail_transient(v_job.job_id, v_job.lease_token, 'E', 'm');
      when 'dead' then perform public.fn_job_fail_permanent(v_job.job_id, v_job.lease_token, 'E', 'm');
      when 'renewed' then perform public.fn_job_lease_renew(v_job.job_id, v_job.lease_token);
      else null;
    end case;
  end loop;
  perform public.fn_job_enqueue('hour_ready', 'test', 'dot_iu', 'hour_later', '{}', 0,
                                clock_timestamp() + interval '1 hour');
  perform public.fn_job_lease_reaper();
end
$$;
