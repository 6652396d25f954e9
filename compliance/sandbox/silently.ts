/** Writing what no function would, inside an open transaction. */
import type { Session } from '../types.ts';

/**
 * Does the work with triggers silent, where the session is a superuser: planting and time travel are
 * no events of the queue. The transaction's own setting is back afterwards; when the work throws,
 * the transaction is broken anyway and its rollback restores it.
 */
export async function silently(session: Session, work: () => Promise<void>): Promise<void> {
  const [before] = await session.query<{ role: string }>(
    `select current_setting('session_replication_role') as role`,
  );
  await session.query(SET_ROLE, ['replica']);
  await work();
  await session.query(SET_ROLE, [before?.role ?? 'origin']);
}

/** Plants a fault inside the session's open transaction: constraints hold, triggers stay silent. */
export async function plantWithin(session: Session, sql: string): Promise<void> {
  await silently(session, async () => {
    await session.query(sql);
  });
}

const SET_ROLE = `
  select set_config('session_replication_role', $1, true)
  from pg_catalog.pg_roles
  where rolname = current_user and rolsuper`;

/** The same as statements, for SQL that is handed on to run later in a transaction. */
export function plantingSql(sql: string): string[] {
  const role = (name: string): string => SET_ROLE.replace('$1', `'${name}'`);
  return [role('replica'), sql, role('origin')];
}
