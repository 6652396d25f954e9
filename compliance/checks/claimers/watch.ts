/**
 * What is planted in the sandbox to see every change of a row: a trigger that logs it in the same
 * transaction. It stands in a schema of its own and calls nothing of the queue.
 */
import { us } from './statements.ts';

/** SQL to plant, as the database's owner, before the load begins. */
export const watchSql = `
create schema dieu45_watch;
create table dieu45_watch.change (
  seq bigint generated always as identity primary key,
  tx text not null,
  called text not null,
  at_us bigint not null,
  job_id uuid not null,
  status_from text,
  status_to text,
  claimable boolean not null,
  attempts integer not null,
  token_was uuid,
  token uuid,
  until_was_us bigint,
  until_us bigint
);
create function dieu45_watch.note() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into dieu45_watch.change
    (tx, called, at_us, job_id, status_from, status_to, claimable, attempts, token_was, token,
     until_was_us, until_us)
  values (
    pg_current_xact_id()::text,
    coalesce(substring(current_query() from 'fn_job_[a-z_]+'), 'another statement'),
    ${us('clock_timestamp()')},
    case tg_op when 'DELETE' then old.job_id else new.job_id end,
    case tg_op when 'INSERT' then null else old.status end,
    case tg_op when 'DELETE' then null else new.status end,
    case tg_op when 'DELETE' then false else new.claimable end,
    case tg_op when 'DELETE' then old.attempts else new.attempts end,
    case tg_op when 'INSERT' then null else old.lease_token end,
    case tg_op when 'DELETE' then null else new.lease_token end,
    case tg_op when 'INSERT' then null else ${us('old.leased_until')} end,
    case tg_op when 'DELETE' then null else ${us('new.leased_until')} end);
  return null;
end
$$;
create trigger dieu45_watch_note
  after insert or update or delete on public.job_queue
  for each row execute function dieu45_watch.note();
`;
