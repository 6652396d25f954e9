/**
 * A clock that a scenario can move, for throwaway databases only. A lease that runs out between two
 * steps would otherwise cost real seconds in every order, and a loaded machine would decide what is
 * seen. The functions are changed in one respect, the clock they read; all else stays as shipped.
 */
import type { Session } from '../../types.ts';

/** Moves the steered clock ahead, for every session at once and outside every transaction. */
export const ADVANCE = 'select dieu45_steer.advance(:seconds)';
/** Sets the steered clock this far ahead of the real time. */
export const SET_AHEAD = 'select dieu45_steer.set_ahead(:seconds)';

// A sequence is the one thing in a database that changes for everybody at once, without a lock.
const CLOCK = `
  create schema dieu45_steer;
  create sequence dieu45_steer.ahead_ms minvalue 0 start 0;
  create function dieu45_steer.clock() returns timestamptz
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    select clock_timestamp()
      + make_interval(secs => (select last_value from dieu45_steer.ahead_ms) / 1000.0)
  $$;
  create function dieu45_steer.advance(p_seconds numeric) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    select setval('dieu45_steer.ahead_ms',
                  (select last_value from dieu45_steer.ahead_ms) + (p_seconds * 1000)::bigint)
  $$;
  create function dieu45_steer.set_ahead(p_seconds numeric) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    select setval('dieu45_steer.ahead_ms', (p_seconds * 1000)::bigint)
  $$;
  grant usage on schema dieu45_steer to public`;

const READERS = `
  select p.oid::regprocedure::text as name, pg_catalog.pg_get_functiondef(p.oid) as definition
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
   where n.nspname !~ '^(pg_|dieu45_)'
     and n.nspname not in ('information_schema', 'tap')
     and p.prokind = 'f'
     and p.prosrc ~ '\\mclock_timestamp\\s*\\('
   order by 1`;

/** Lets every function that reads the clock read the steered one. Returns how many do. */
export async function steerClock(owner: Session): Promise<number> {
  const readers = await owner.query<{ name: string; definition: string }>(READERS);
  await owner.query(CLOCK);
  for (const { definition } of readers) await owner.query(steered(definition));
  return readers.length;
}

/** The definition with the steered clock in place of the server's. */
export function steered(definition: string): string {
  return definition.replaceAll(
    /(?:\bpg_catalog\.)?\bclock_timestamp\s*\(\s*\)/g,
    'dieu45_steer.clock()',
  );
}
