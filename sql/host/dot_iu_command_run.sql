-- Host table: the audit trail of commands (Điều 35). run_seq orders: two steps of one call share a
-- time. Created only when absent; the two indexes also on a host's own table, because the gap view
-- and the audit of one job must not scan it.
do $$
begin
  if to_regclass('public.dot_iu_command_run') is null then
    create table public.dot_iu_command_run (
      run_seq bigint generated always as identity,
      command text not null,
      actor text not null,
      session_role text not null,
      job_id uuid,
      dead_letter_id uuid,
      status_from text,
      status_to text,
      attempt integer,
      refused boolean not null default false,
      reason text,
      detail jsonb,
      run_at timestamptz not null default clock_timestamp(),
      constraint dot_iu_command_run_pkey primary key (run_seq)
    );
    comment on table public.dot_iu_command_run is
      'Host table of the job queue; created by dieu45';
  end if;
end
$$;

create index if not exists dot_iu_command_run_job_idx
  on public.dot_iu_command_run (job_id, run_seq)
  where job_id is not null;

create index if not exists dot_iu_command_run_event_lost_idx
  on public.dot_iu_command_run (run_at)
  where detail ? 'event_lost';
