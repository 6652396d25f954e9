-- Dead letters of jobs, with their triage (§8.4).
create view public.v_job_dead_letter as
  select d.dead_letter_id,
         d.job_id as job_id_original,
         d.job_kind,
         d.event_domain,
         d.executor,
         d.idempotency_key,
         d.failure_code,
         d.failure_detail,
         d.attempts,
         d.first_failed_at,
         d.last_failed_at,
         d.triage_status,
         d.triage_note,
         d.triaged_at,
         d.triaged_by,
         d.resolved_at,
         d.resolution,
         d.resolution_note
    from public.job_dead_letter d;
