/** Installs the substrate without psql, as `psql -f install.sql` would: in one transaction, file by file. */
import pg from 'pg';
import { KitError, messageOf } from '../errors.ts';
import type { Session } from '../types.ts';
import { lineAndColumn } from './position.ts';
import { readInstall, type SqlFile } from './read.ts';

/**
 * Runs every file that `install.sql` of this folder names. Either all of it stays or nothing.
 * Throws KitError 70 as `sql/functions/x.sql:12:3: message` when the server refuses a file; a lost
 * connection is thrown as it is.
 */
export async function installSubstrate(session: Session, sqlDir: string): Promise<void> {
  await runFiles(session, await readInstall(sqlDir));
}

/** Takes the substrate away, as `psql -f uninstall.sql` would; refuses while it is in use (D4501). */
export async function uninstallSubstrate(session: Session, sqlDir: string): Promise<void> {
  await runFiles(session, await readInstall(sqlDir, 'uninstall.sql'));
}

async function runFiles(session: Session, files: readonly SqlFile[]): Promise<void> {
  await session.query('begin');
  try {
    for (const file of files) await runFile(session, file);
    await session.query('commit');
  } catch (error) {
    // With the connection gone the server has rolled back by itself.
    await session.query('rollback').catch(() => undefined);
    throw error;
  }
  // Settings made with plain `set` would outlive the transaction and colour what comes after.
  await session.query('reset all');
}

async function runFile(session: Session, { file, sql }: SqlFile): Promise<void> {
  try {
    await session.query(sql);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw new KitError(70, describe(file, sql, error), error.hint);
  }
}

/** An error without a position (raised inside a DO block, or by a constraint) points at the file's start. */
function describe(file: string, sql: string, error: pg.DatabaseError): string {
  const { line, col } = lineAndColumn(sql, Number(error.position ?? 1));
  const parts = [`${file}:${line}:${col}: ${messageOf(error)} (${error.code ?? 'no SQLSTATE'})`];
  if (error.detail) parts.push(error.detail);
  if (error.where) parts.push(error.where.split('\n')[0] ?? '');
  return parts.join('\n');
}
