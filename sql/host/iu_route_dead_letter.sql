-- Host table: dead letters of the event tier (DP3 §2). Created only when absent.
do $$
begin
  if to_regclass('public.iu_route_dead_letter') is null then
    create table public.iu_route_dead_letter (
      event_ref text not null,
      event_domain text not null,
      event_type text not null,
      route_code text not null,
      failure_code text not null,
      failure_detail text,
      attempts integer not null,
      first_failed_at timestamptz not null,
      last_failed_at timestamptz not null,
      resolved_at timestamptz,
      resolution text,
      resolution_note text,
      constraint iu_route_dead_letter_attempts_check check (attempts >= 1),
      constraint iu_route_dead_letter_resolution_check
        check (resolution in ('replayed', 'discarded', 'superseded')),
      constraint iu_route_dead_letter_resolved_check
        check ((resolved_at is null) = (resolution is null))
    );
    comment on table public.iu_route_dead_letter is
      'Host table of the job queue; created by dieu45';
  end if;
end
$$;
