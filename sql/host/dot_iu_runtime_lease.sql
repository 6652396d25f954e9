-- Host table: leases of the whole runtime, for visibility across processes (DP3 §2, §3.1). The
-- queue mirrors each job lease here as job:<job_id>. Created only when absent, and its two
-- functions too.
do $$
begin
  if to_regclass('public.dot_iu_runtime_lease') is null then
    create table public.dot_iu_runtime_lease (
      lease_name text not null,
      lease_holder text not null,
      lease_token uuid not null,
      acquired_at timestamptz not null,
      expires_at timestamptz not null,
      renewed_at timestamptz,
      constraint dot_iu_runtime_lease_pkey primary key (lease_name)
    );
    comment on table public.dot_iu_runtime_lease is
      'Host table of the job queue; created by dieu45';
  end if;
end
$$;

-- The host's acquire and release, in the plainest form, for a database that has no host of its own.
-- Closed to PUBLIC as everything here is (§11.5): they run as who installed them, and could drop or
-- take over the mirror of any job's lease.
do $$
begin
  if not exists (
    select 1
      from pg_catalog.pg_proc p
     where p.pronamespace = 'public'::regnamespace
       and p.proname = 'fn_dot_iu_runtime_lease_acquire'
  ) then
    create function public.fn_dot_iu_runtime_lease_acquire(
      p_lease_name text,
      p_lease_holder text,
      p_ttl_seconds integer
    )
    returns uuid
    language sql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    as $f$
      insert into public.dot_iu_runtime_lease as l
        (lease_name, lease_holder, lease_token, acquired_at, expires_at)
      values (p_lease_name, p_lease_holder, gen_random_uuid(), clock_timestamp(),
              clock_timestamp() + make_interval(secs => p_ttl_seconds))
      on conflict on constraint dot_iu_runtime_lease_pkey do update
        set lease_holder = excluded.lease_holder,
            lease_token = excluded.lease_token,
            acquired_at = excluded.acquired_at,
            expires_at = excluded.expires_at,
            renewed_at = null
        where l.expires_at <= clock_timestamp()
      returning l.lease_token
    $f$;
    revoke all on function public.fn_dot_iu_runtime_lease_acquire(text, text, integer) from public;
  end if;
  if not exists (
    select 1
      from pg_catalog.pg_proc p
     where p.pronamespace = 'public'::regnamespace
       and p.proname = 'fn_dot_iu_runtime_lease_release'
  ) then
    create function public.fn_dot_iu_runtime_lease_release(p_lease_name text, p_lease_token uuid)
    returns boolean
    language sql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    as $f$
      with gone as (
        delete from public.dot_iu_runtime_lease l
         where l.lease_name = p_lease_name
           and l.lease_token = p_lease_token
        returning 1
      )
      select exists (select 1 from gone)
    $f$;
    revoke all on function public.fn_dot_iu_runtime_lease_release(text, uuid) from public;
  end if;
end
$$;
