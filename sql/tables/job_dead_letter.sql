-- Dead letters of jobs (§8.4, DP3 §3.5 option B). Its own key, so that a job which is replayed and
-- dies again has two; no foreign key, so that a dead letter outlives everything.
create table public.job_dead_letter (
  dead_letter_id uuid not null default gen_random_uuid(),
  job_id uuid not null,
  job_kind text not null,
  event_domain text not null,
  executor text not null,
  idempotency_key text not null,
  failure_code text not null,
  failure_detail text,
  attempts integer not null,
  -- The job row as it was, without its tokens.
  job_snapshot jsonb not null,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  resolved_at timestamptz,
  resolution text,
  resolution_note text,
  triage_status text not null default 'pending',
  triage_note text,
  triaged_at timestamptz,
  triaged_by text,

  constraint job_dead_letter_pkey primary key (dead_letter_id),
  constraint job_dead_letter_attempts_check check (attempts >= 1),
  constraint job_dead_letter_resolution_check
    check (resolution in ('replayed', 'discarded', 'superseded')),
  constraint job_dead_letter_resolved_check check ((resolved_at is null) = (resolution is null)),
  constraint job_dead_letter_triage_check check (triage_status = any
    (array['pending', 'acknowledged', 'manual_replay', 'escalated', 'closed'])),
  constraint job_dead_letter_triaged_check check ((triaged_at is null) = (triaged_by is null)),
  constraint job_dead_letter_failure_check check (char_length(failure_code) between 1 and 100),
  constraint job_dead_letter_snapshot_check check (
    jsonb_typeof(job_snapshot) = 'object'
    and not job_snapshot ?| array['lease_token', 'ended_token']),
  constraint job_dead_letter_finite_check check (
    isfinite(first_failed_at)
    and isfinite(last_failed_at)
    and isfinite(coalesce(resolved_at, last_failed_at))
    and isfinite(coalesce(triaged_at, last_failed_at)))
);

comment on table public.job_dead_letter is 'Dead letters of jobs, with their triage (Điều 45 §8.4)';

-- One open dead letter a job.
create unique index job_dead_letter_open_idx on public.job_dead_letter (job_id)
  where resolved_at is null;
create index job_dead_letter_job_idx on public.job_dead_letter (job_id);
-- Inspection, by kind and time (DP3 §5).
create index job_dead_letter_inspect_idx on public.job_dead_letter (job_kind, last_failed_at desc);
-- Age of what is open, for health.
create index job_dead_letter_open_age_idx on public.job_dead_letter (first_failed_at)
  where resolved_at is null;
