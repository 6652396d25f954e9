-- No job's audit chain has a break, or begins otherwise than with its creation, or ends elsewhere than
-- in its present state and attempts (Điều 35, contract §6).
\ir lib/busy_hour.sql
with expected(job_id, status, attempts) as (
  select q.job_id, q.status, q.attempts
    from public.job_queue q
),
link as (
  select r.job_id,
         r.run_seq,
         r.status_from,
         r.status_to,
         r.attempt,
         lag(r.status_to) over w as status_before,
         row_number() over w as place,
         lead(r.run_seq) over w is null as is_last
    from public.dot_iu_command_run r
   where r.job_id is not null
     and not r.refused
  window w as (partition by r.job_id order by r.run_seq)
)
select e.job_id, 'has no audit' as finding, null::bigint as run_seq, null as status_from,
       e.status as status_to
  from expected e
 where not exists (select 1 from link l where l.job_id = e.job_id)
union all
select l.job_id, 'begins with a state that nothing gave it', l.run_seq, l.status_from, l.status_to
  from link l
 where l.place = 1
   and l.status_from is not null
union all
select l.job_id, 'breaks after ' || l.status_before, l.run_seq, l.status_from, l.status_to
  from link l
 where l.place > 1
   and l.status_from is distinct from l.status_before
union all
select l.job_id, 'takes a step that is not documented', l.run_seq, l.status_from, l.status_to
  from link l
 where (coalesce(l.status_from, ''), coalesce(l.status_to, '')) not in (
         ('', 'queued'), ('queued', 'leased'), ('leased', 'in_progress'),
         ('in_progress', 'in_progress'), ('in_progress', 'succeeded'), ('leased', 'retry_waiting'),
         ('in_progress', 'retry_waiting'), ('leased', 'dead_letter'), ('in_progress', 'dead_letter'),
         ('retry_waiting', 'queued'), ('dead_letter', 'queued'), ('succeeded', 'cleaned'))
union all
select l.job_id, format('ends elsewhere: the job is %s after %s attempts', e.status, e.attempts),
       l.run_seq, l.status_from, l.status_to
  from link l
  join expected e on e.job_id = l.job_id
 where l.is_last
   and (l.status_to is distinct from e.status or coalesce(l.attempt, 0) <> e.attempts)
 order by 1, 3;
