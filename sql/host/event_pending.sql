-- Host table: events that wait for their route. The queue emits references only. Created only when absent.
create table if not exists public.event_pending (
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
