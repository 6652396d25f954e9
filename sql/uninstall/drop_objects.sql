-- Drops what install.sql created. Without CASCADE on what others can see: an object of somebody
-- else that depends on the queue stops the uninstall.
drop trigger dot_config_dieu45_guard on public.dot_config;

drop view
  public.v_dead_letter_all,
  public.v_job_dead_letter,
  public.v_job_retry_pressure,
  public.v_lease_active,
  public.v_queue_config,
  public.v_job_silent_gap,
  public.v_queue_health;

do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid::regprocedure
      from pg_catalog.pg_proc p
     where p.pronamespace = 'public'::regnamespace
       and (p.proname like 'fn\_job\_%' or p.proname = 'fn_dead_letter_health')
       and p.proowner = 'dot_queue_owner'::regrole
  loop
    execute format('drop function %s', v_function);
  end loop;
end
$$;

-- A host's own tables are left without the rows and indexes that are the queue's. Through the
-- views, as everything else, and the queue itself never deletes audit: the right is granted for
-- this moment.
grant delete on public.dot_iu_command_run to dot_queue_owner;
delete from dot_queue.host_config c
 where c.key in (select v.key from dot_queue.config_value v);
delete from dot_queue.host_lease l
 where l.lease_name in (select 'job:' || q.job_id from public.job_queue q);
delete from dot_queue.host_run r
 where r.command like 'fn\_job\_%';

drop schema dot_queue cascade;
drop table public.job_queue, public.job_dead_letter, public.job_executor, public.job_sweep;

do $$
declare
  v_table text;
begin
  foreach v_table in array array['dot_config', 'dot_iu_runtime_lease', 'iu_route_dead_letter',
                                 'event_pending', 'dot_iu_command_run'] loop
    if obj_description(('public.' || v_table)::regclass, 'pg_class')
         = 'Host table of the job queue; created by dieu45' then
      execute format('drop table public.%I', v_table);
      if v_table = 'dot_iu_runtime_lease' then
        drop function public.fn_dot_iu_runtime_lease_acquire(text, text, integer);
        drop function public.fn_dot_iu_runtime_lease_release(text, uuid);
      end if;
    else
      execute format('revoke all on public.%I from dot_queue_owner, dot_auditor', v_table);
    end if;
  end loop;
end
$$;

drop index if exists public.dot_iu_command_run_job_idx, public.dot_iu_command_run_event_lost_idx;
