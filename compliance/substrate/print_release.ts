/**
 * Prints one form of the release, for `scripts/generate`:
 * `node dist/substrate/print_release.js extension sql`.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv, stdout } from 'node:process';
import { readInstall } from './read.ts';
import { buildForm, extraFiles } from './release.ts';

const [, , form, sqlDir] = argv;
if ((form !== 'extension' && form !== 'plain') || sqlDir === undefined) {
  throw new Error('print_release extension|plain SQL_FOLDER');
}
const extra = await Promise.all(
  extraFiles().map(async (path) => ({
    file: `sql/${path}`,
    sql: await readFile(join(sqlDir, path), 'utf8'),
  })),
);
stdout.write(buildForm(form, await readInstall(sqlDir), extra));
