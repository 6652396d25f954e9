-- Host table: configuration as key and value. Created only when absent.
do $$
begin
  if to_regclass('public.dot_config') is null then
    create table public.dot_config (
      key text not null,
      value text not null,
      description text,
      updated_at timestamptz not null default clock_timestamp(),
      updated_by text not null default session_user,
      constraint dot_config_pkey primary key (key)
    );
    comment on table public.dot_config is
      'Host table of the job queue; created by dieu45';
  end if;
end
$$;
