/**
 * Finds the programs of an embedded server: the package that npm installed with the project when it
 * is the wanted version, otherwise the pinned one of the cache (fetched when it is not there yet).
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { KitError } from '../errors.ts';
import { fetchServer, type Env } from './fetch.ts';
import { SERVERS, SERVER_SCOPE, type Major } from './versions.ts';

const PackageFile = z.object({ version: z.string() });

/**
 * The folder (with bin, lib and share) of the server of that major version.
 * Throws KitError 69 when there is none for this machine.
 */
export async function findPrograms(
  major: Major,
  options: { env: Env; root: string; signal: AbortSignal; progress: (text: string) => void },
): Promise<string> {
  const machine = `${platform()}-${arch()}`;
  const pinned = SERVERS[machine]?.[major];
  if (!pinned) {
    throw new KitError(
      69,
      `there is no embedded PostgreSQL ${major} for ${machine}`,
      'use --target local:/path/to/bin with a server of this machine, or --target postgres://…',
    );
  }
  const installed = await installedPackage(machine, options.root);
  if (installed?.version === pinned.version) return join(installed.folder, 'native');
  return join(await fetchServer(machine, pinned, options), 'native');
}

/** Looks beside the kit first, then beside the project that uses it. */
async function installedPackage(
  machine: string,
  root: string,
): Promise<{ folder: string; version: string } | undefined> {
  for (const from of [import.meta.url, join(root, 'package.json')]) {
    try {
      const main = createRequire(from).resolve(`${SERVER_SCOPE}/${machine}`);
      const folder = dirname(dirname(main));
      const text = await readFile(join(folder, 'package.json'), 'utf8');
      return { folder, version: PackageFile.parse(JSON.parse(text)).version };
    } catch {
      // Optional dependency: not installed here.
    }
  }
  return undefined;
}
