-- Host table: events that wait for their route. The queue emits references only. Created only when
-- absent.
do $$
begin
  if to_regclass('public.event_pending') is null then
    create table public.event_pending (
      event_id uuid not null default gen_random_uuid(),
      event_domain text not null,
      event_type text not null,
      severity text not null,
      payload jsonb not null,
      occurred_at timestamptz not null default clock_timestamp(),
      error_count integer not null default 0,
      last_error text,
      constraint event_pending_pkey primary key (event_id)
    );
    comment on table public.event_pending is
      'Host table of the job queue; created by dieu45';
  end if;
end
$$;
