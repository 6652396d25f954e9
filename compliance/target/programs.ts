/**
 * A private copy of a server's programs for one run, inside the server's own folder.
 *
 * A copy is always made: the user that runs the server may not be able to read a checkout in a home,
 * npm may not have run the script that makes the package's symbolic links, an extension can be put
 * beside the others, and an `npm ci` meanwhile pulls nothing from under a running server. It is made
 * of hard links where that is possible (25 ms), of copies elsewhere (150 ms).
 */
import { constants } from 'node:fs';
import {
  chmod,
  chown,
  copyFile,
  link,
  mkdir,
  readFile,
  readdir,
  readlink,
  stat,
  symlink,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import type { Identity } from './identity.ts';

const LinkList = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Copies the server in `native` (a folder with bin, lib and share) to `to`, readable for `identity`,
 * and adds the symbolic links that its pg-symlinks.json names and that are missing.
 */
export async function copyPrograms(
  native: string,
  to: string,
  identity: Identity | undefined,
): Promise<void> {
  await copyFolder(native, to, identity);
  await addLinks(native, to);
}

async function copyFolder(from: string, to: string, identity: Identity | undefined): Promise<void> {
  await mkdir(to, { mode: 0o755 });
  // The folders must belong to the user that will remove them; the files need not.
  if (identity) await chown(to, identity.uid, identity.gid);
  const entries = await readdir(from, { withFileTypes: true });
  await Promise.all(
    entries.map(async (entry) => {
      const source = join(from, entry.name);
      const target = join(to, entry.name);
      if (entry.isDirectory()) await copyFolder(source, target, identity);
      else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
      else await placeFile(source, target);
    }),
  );
}

async function placeFile(source: string, target: string): Promise<void> {
  const { mode } = await stat(source);
  const executable = (mode & 0o100) !== 0 || dirname(source).endsWith('/bin');
  const wanted = executable ? 0o555 : 0o444;
  // A hard link shares its mode with the original, so only a file that is open to all is linked.
  if ((mode & wanted) === wanted) {
    try {
      await link(source, target);
      return;
    } catch {
      // Another file system, or a kernel that protects files of other users: copy.
    }
  }
  await copyFile(source, target, constants.COPYFILE_FICLONE);
  await chmod(target, executable ? 0o755 : 0o644);
}

/** npm packages hold no symbolic links; the package lists those that its libraries need. */
async function addLinks(native: string, to: string): Promise<void> {
  let text: string;
  try {
    text = await readFile(join(native, 'pg-symlinks.json'), 'utf8');
  } catch {
    return; // A package without the list has nothing to link.
  }
  for (const { source, target } of LinkList.parse(JSON.parse(text))) {
    const path = join(to, target.replace(/^native\//, ''));
    try {
      await symlink(relative(dirname(target), source), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
