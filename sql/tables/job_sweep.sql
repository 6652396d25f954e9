-- One row a call of the reaper or the promoter, append-only (§8.3, §15.5): a reaper that no longer
-- runs must be seen. A row of its own for each call, because two reapers must not wait for each
-- other here.
create table public.job_sweep (
  sweep_id bigint generated always as identity,
  command text not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  counts jsonb not null,

  constraint job_sweep_pkey primary key (sweep_id),
  constraint job_sweep_command_check
    check (command in ('fn_job_lease_reaper', 'fn_job_promote_due')),
  constraint job_sweep_order_check check (finished_at >= started_at)
);

comment on table public.job_sweep is 'Calls of the reaper and the promoter (Điều 45 §15.5)';

create index job_sweep_last_idx on public.job_sweep (command, started_at desc);
