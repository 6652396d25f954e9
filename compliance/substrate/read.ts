/**
 * Reads `install.sql`, the substrate's table of contents. It holds `\ir path` lines, `begin;`,
 * `commit;`, `\set ON_ERROR_STOP on`, comments and blank lines, and nothing else, so that psql and
 * the kit install the same thing.
 */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { KitError, messageOf } from '../errors.ts';

/** One file to run, in order. `file` is for people: `sql/functions/fn_job_claim.sql`. */
export type SqlFile = { file: string; sql: string };

/** A line that includes a file: its path and where the line is. */
export type Include = { path: string; line: number };

/**
 * The files that `install.sql` of this folder names, in load order; `uninstall.sql` is read alike.
 * Throws KitError 70 with file:line:col for a line that it may not hold, and for a file that is missing.
 */
export async function readInstall(
  sqlDir: string,
  table: 'install.sql' | 'uninstall.sql' = 'install.sql',
): Promise<SqlFile[]> {
  const contents = join(basename(sqlDir), table);
  let text: string;
  try {
    text = await readFile(join(sqlDir, table), 'utf8');
  } catch (error) {
    throw new KitError(
      70,
      `${contents}:1:1: ${messageOf(error)}`,
      `name the folder that holds ${table}`,
    );
  }
  return Promise.all(
    parseInstall(text, contents).map(async ({ path, line }) => {
      try {
        const sql = await readFile(join(sqlDir, path), 'utf8');
        return { file: join(basename(sqlDir), path), sql };
      } catch (error) {
        throw new KitError(70, `${contents}:${line}:1: ${messageOf(error)}`);
      }
    }),
  );
}

/** The includes of a table of contents, in order. `file` is its name in errors. Pure. */
export function parseInstall(text: string, file: string): Include[] {
  const includes: Include[] = [];
  let stage: 'before' | 'open' | 'committed' = 'before';
  const refuse = (line: number, what: string): never => {
    throw new KitError(
      70,
      `${file}:${line}:1: ${what}`,
      'a table of contents may hold \\ir lines between begin; and commit;, \\set ON_ERROR_STOP on, and comments',
    );
  };
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = index + 1;
    const words = raw.trim();
    const path = /^\\ir\s+(\S+)$/.exec(words)?.[1];
    if (path !== undefined) {
      if (stage !== 'open') refuse(line, '\\ir stands outside begin; and commit;');
      includes.push({ path, line });
    } else if (words === 'begin;' && stage === 'before') {
      stage = 'open';
    } else if (words === 'commit;' && stage === 'open') {
      stage = 'committed';
    } else if (words !== '' && !words.startsWith('--') && words !== '\\set ON_ERROR_STOP on') {
      refuse(line, `unexpected ${JSON.stringify(words)}`);
    }
  }
  if (stage !== 'committed') refuse(1, 'begin; or commit; is missing');
  if (includes.length === 0) refuse(1, 'no file is included');
  return includes;
}
