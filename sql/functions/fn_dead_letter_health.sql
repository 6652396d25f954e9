-- The state of the dead letters, of events and of jobs (DP3 §8): {open_count_event, open_count_job,
-- oldest_first_failed_at, by_failure_code}, over what is open.
create function public.fn_dead_letter_health()
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_health jsonb;
begin
  with open_letter(layer, failure_code, first_failed_at) as (
    select 'event', e.failure_code, e.first_failed_at
      from dot_queue.host_event_dead_letter e
     where e.resolved_at is null
    union all
    select 'job', d.failure_code, d.first_failed_at
      from public.job_dead_letter d
     where d.resolved_at is null
  )
  select jsonb_build_object(
           'open_count_event', count(*) filter (where o.layer = 'event'),
           'open_count_job', count(*) filter (where o.layer = 'job'),
           'oldest_first_failed_at', min(o.first_failed_at),
           'by_failure_code', coalesce((
             select jsonb_object_agg(c.failure_code, c.letters)
               from (
                      select l.failure_code, count(*) as letters
                        from open_letter l
                       group by l.failure_code
                    ) c
           ), '{}'))
    into v_health
    from open_letter o;
  return v_health;
end
$$;
