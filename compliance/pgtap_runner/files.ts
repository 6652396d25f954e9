/** Which files to run: files as they are named, folders as the test files directly in them. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { KitError } from '../errors.ts';
import { exits } from '../verdict/exit.ts';

const TEST_FILE = /\.(?:sql|pg|psql)$/;

/**
 * The files, each once, in the order in which they were named; those of a folder by name.
 * @throws KitError 1 when there is nothing to run, or a name is no file: no test is not a green test.
 */
export async function findFiles(names: readonly string[], cwd: string): Promise<readonly string[]> {
  const found = await Promise.all(names.map((name) => filesOf(name, cwd)));
  const files = [...new Set(found.flat())];
  if (files.length === 0) {
    throw new KitError(
      exits.failed,
      'there is nothing to run',
      'name test files, or a folder of them',
    );
  }
  return files;
}

async function filesOf(name: string, cwd: string): Promise<string[]> {
  const place = path.resolve(cwd, name);
  const found = await stat(place).catch(() => undefined);
  if (!found)
    throw new KitError(
      exits.failed,
      `there is no file ${name}`,
      'look at its name, and at the folder you are in',
    );
  if (!found.isDirectory()) return [path.normalize(name)];
  const entries = await readdir(place, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && TEST_FILE.test(entry.name));
  if (files.length === 0) {
    throw new KitError(
      exits.failed,
      `the folder ${name} holds no test file`,
      'test files end in .sql, .pg or .psql',
    );
  }
  return files.map((entry) => path.join(name, entry.name)).sort();
}
