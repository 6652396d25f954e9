-- The executor set (§11.5): who may work which kind; '*' is every kind. Looked at when a job is
-- enqueued, not by the claim; the gap view names a job whose executor was taken away later.
create table public.job_executor (
  executor text not null,
  job_kind text not null,
  enabled boolean not null default true,
  updated_at timestamptz not null default clock_timestamp(),
  updated_by text not null default session_user,

  constraint job_executor_pkey primary key (executor, job_kind),
  constraint job_executor_name_check check (
    char_length(executor) between 1 and 200 and executor !~ '[\u0001-\u001f\u007f-\u009f]'),
  constraint job_executor_kind_check check (job_kind = '*' or (
    job_kind ~ '^[a-z][a-z0-9_]*$' and char_length(job_kind) <= 63
    and job_kind not in ('default', 'lease_reaper')))
);

comment on table public.job_executor is
  'Registered executors and the kinds they may work (Điều 45 §11.5)';
