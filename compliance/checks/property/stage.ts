/** A session in a transaction, with a world in it that is never committed. */
import { CoverageError } from '../../errors.ts';
import type { Sandbox, Session } from '../../types.ts';
import { oneLine } from './sql_text.ts';

/**
 * Opens a session of the database's owner, begins, and builds the world: statements that call the
 * queue or plant something. Closing the session undoes all of it.
 *
 * @throws CoverageError when a call of the set-up is refused: the world would not be what it says.
 */
export async function openStage(
  sandbox: Sandbox,
  name: string,
  setup: readonly string[],
): Promise<Session> {
  const session = await sandbox.session(name);
  try {
    await session.query('begin');
    await build(session, setup);
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
  return session;
}

/** Runs statements that must go ahead. @throws CoverageError when one is refused. */
export async function build(session: Session, statements: readonly string[]): Promise<void> {
  for (const sql of statements) {
    for (const row of await session.query(sql)) {
      const refused = Object.values(row).find(isRefusal);
      if (refused !== undefined)
        throw new CoverageError(
          `the set-up is refused: ${oneLine(sql, 300)} answers ${JSON.stringify(refused)}`,
        );
    }
  }
}

function isRefusal(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && 'refused' in value && value.refused === true
  );
}

/** Does something and undoes it: the next one meets the same world. */
export async function undone<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.query('savepoint undone');
  try {
    return await work();
  } finally {
    // Released too: an outer one of the same name must be the one that is found next.
    await session
      .query('rollback to savepoint undone; release savepoint undone')
      .catch(() => undefined);
  }
}
