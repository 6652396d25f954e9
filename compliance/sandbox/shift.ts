/**
 * Time travel (architecture.md, invariants): the rows move into the past, never the clock.
 */
import type { Session } from '../types.ts';

/**
 * Shifts every timestamp of every row in this database into the past, whatever the tables are
 * called, in one transaction. All columns of a row move in one UPDATE, so their order and every
 * constraint on it stay true. Triggers do not fire where the session is a superuser: the shift is
 * not an event of the queue. Infinite timestamps stay what they are.
 * Waits at most 5 s for a row that another session holds, then raises 55P03.
 */
export async function shiftTimestamps(owner: Session, seconds: number): Promise<void> {
  await owner.query('begin; set local lock_timeout = 5000');
  try {
    await shiftWithin(owner, seconds);
    await owner.query('commit');
  } catch (error) {
    await owner.query('rollback');
    throw error;
  }
}

/**
 * The same inside the session's open transaction, for a check that rolls back what it built. The
 * transaction goes on as it was. One statement, since checks travel often.
 */
export async function shiftWithin(session: Session, seconds: number): Promise<void> {
  if (!Number.isFinite(seconds)) throw new Error(`nobody can travel ${seconds} seconds`);
  await session.query(SHIFT.replace('{seconds}', String(seconds)));
}

const SHIFT = `
  do $shift$
  declare
    v_before text := current_setting('session_replication_role');
    v_silent boolean := (select r.rolsuper from pg_catalog.pg_roles r where r.rolname = current_user);
    v_table record;
  begin
    if v_silent then
      perform set_config('session_replication_role', 'replica', true);
    end if;
    for v_table in
      select format('%I.%I', n.nspname, c.relname) as relation,
             string_agg(format('%1$I = %1$I - make_interval(secs => $1)', a.attname), ', '
                        order by a.attnum) as sets
        from pg_catalog.pg_attribute a
        join pg_catalog.pg_class c on c.oid = a.attrelid
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where c.relkind = 'r'
         and c.relpersistence <> 't'
         and n.nspname not in ('pg_catalog', 'information_schema', 'tap')
         and a.atttypid = 'timestamptz'::regtype
         and a.attnum > 0
         and not a.attisdropped
         and a.attgenerated = ''
       group by n.nspname, c.relname
       order by n.nspname, c.relname
    loop
      execute format('update %s set %s', v_table.relation, v_table.sets) using {seconds}::float8;
    end loop;
    if v_silent then
      perform set_config('session_replication_role', v_before, true);
    end if;
  end
  $shift$`;
