-- Loses nothing unasked: jobs, dead letters and audit rows stop the uninstall, with their counts.
set local search_path = pg_catalog, pg_temp;
set local client_min_messages = warning;

do $$
declare
  v_jobs bigint;
  v_letters bigint;
  v_runs bigint;
begin
  if current_setting('dieu45.purge', true) = 'yes' then
    return;
  end if;
  select count(*) into v_jobs from public.job_queue;
  select count(*) into v_letters from public.job_dead_letter;
  select count(*)
    into v_runs
    from dot_queue.host_run r
   where r.command like 'fn\_job\_%'
     and r.command <> 'fn_job_seed';
  if v_jobs + v_letters + v_runs > 0 then
    raise exception using
      errcode = 'D4501',
      message = format('the queue is in use: %s jobs, %s dead letters, %s audit rows', v_jobs,
                       v_letters, v_runs),
      hint = 'To delete them too: psql -c "set dieu45.purge = ''yes''" -f sql/uninstall.sql';
  end if;
end
$$;
