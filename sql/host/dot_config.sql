-- Host table: configuration as key and value. Created only when absent.
create table if not exists public.dot_config (
  key text not null,
  value text not null,
  description text,
  updated_at timestamptz not null default clock_timestamp(),
  updated_by text not null default session_user,
  constraint dot_config_pkey primary key (key)
);
