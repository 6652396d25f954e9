/**
 * What is planted in the sandbox to see every change of a row: a trigger that logs it in the same
 * transaction. It stands in a schema of its own and calls nothing of the queue. It does as little as it
 * can, since it runs under the row's lock: what can be worked out later is worked out by the final
 * reads, the name of the called function for example.
 */

/** SQL to plant, as the database's owner, before the load begins. */
export const watchSql = `
create schema dieu45_watch;
create table dieu45_watch.change (
  seq bigint generated always as identity,
  tx xid8 not null,
  query text,
  at timestamptz not null,
  job_id uuid not null,
  status_from text,
  status_to text,
  claimable boolean not null,
  attempts integer not null,
  token_was uuid,
  token uuid,
  until_was timestamptz,
  until timestamptz
);
create function dieu45_watch.note() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    insert into dieu45_watch.change
      (tx, query, at, job_id, status_from, status_to, claimable, attempts, token_was, token,
       until_was, until)
    values (pg_current_xact_id(), left(current_query(), 80), clock_timestamp(), new.job_id, old.status,
            new.status, new.claimable, new.attempts, old.lease_token, new.lease_token,
            old.leased_until, new.leased_until);
  elsif tg_op = 'INSERT' then
    insert into dieu45_watch.change
      (tx, query, at, job_id, status_to, claimable, attempts, token, until)
    values (pg_current_xact_id(), left(current_query(), 80), clock_timestamp(), new.job_id, new.status,
            new.claimable, new.attempts, new.lease_token, new.leased_until);
  else
    insert into dieu45_watch.change
      (tx, query, at, job_id, status_from, claimable, attempts, token_was, until_was)
    values (pg_current_xact_id(), left(current_query(), 80), clock_timestamp(), old.job_id, old.status,
            false, old.attempts, old.lease_token, old.leased_until);
  end if;
  return null;
end
$$;
create trigger dieu45_watch_note
  after insert or update or delete on public.job_queue
  for each row execute function dieu45_watch.note();
`;
