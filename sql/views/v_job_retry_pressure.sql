-- Retry pressure by kind (DP3 §8), to the letter: a full scan, and read by nothing of ours.
create view public.v_job_retry_pressure as
  select q.job_kind,
         count(*) filter (where q.status = 'retry_waiting') as waiting,
         count(*) filter (where q.status = 'dead_letter') as dead,
         max(q.attempts) filter (where q.status <> 'cleaned') as max_attempts_seen
    from public.job_queue q
   group by q.job_kind;
