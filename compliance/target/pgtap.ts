/**
 * pgTAP in a database: the server's extension when it has one, otherwise the SQL that this package
 * carries (pgTAP has no C code, so a plain user can run it). Either way its functions live in schema
 * `tap`, out of `public`: a suite says `set search_path = public, tap`.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { KitError } from '../errors.ts';
import type { Session } from '../types.ts';

/** Beside the compiled files, and for the sources where the build puts it. */
const PLACES = ['../pgtap/pgtap.sql', '../../dist/pgtap/pgtap.sql'];

/**
 * Installs pgTAP into schema `tap`, callable by every role. Needs the right to create a schema, and
 * no superuser. Returns where it came from.
 */
export async function installPgtap(session: Session): Promise<'extension' | 'sql'> {
  const [found] = await session.query<{ available: boolean }>(
    `select exists (select from pg_catalog.pg_available_extensions where name = 'pgtap') as available`,
  );
  const from = found?.available ? 'extension' : 'sql';
  const install = from === 'extension' ? 'create extension pgtap schema tap;' : await carriedSql();
  // One text is one transaction: half a pgTAP would only confuse.
  await session.query(`
    create schema tap;
    grant usage on schema tap to public;
    set local search_path = tap, pg_catalog;
    set local client_min_messages = warning;
    ${install}`);
  return from;
}

async function carriedSql(): Promise<string> {
  for (const place of PLACES) {
    try {
      return await readFile(fileURLToPath(new URL(place, import.meta.url)), 'utf8');
    } catch {
      // Try the next place.
    }
  }
  throw new KitError(70, "pgTAP's SQL is missing from dist/", 'run scripts/build');
}
