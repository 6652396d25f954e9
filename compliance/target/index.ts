/** Where a server comes from: the text of `--target` becomes something that can be opened. */
import { makeServer } from '../sandbox/server.ts';
import type { Need, Server, Target } from '../types.ts';
import { findPrograms } from './binaries.ts';
import { openCluster, type Programs } from './cluster.ts';
import { openContainer } from './container.ts';
import type { Env } from './fetch.ts';
import { parseTarget } from './parse.ts';
import { openUrl } from './url.ts';

export { installPgtap } from './pgtap.ts';

export type TargetOptions = {
  env: Env;
  /** Where throwaway clusters may live; `/tmp` is taken when this is too long or closed to the server's user. */
  tmpDir: string;
  /** The project's root: relative paths start here. */
  root: string;
  progress?: (text: string) => void;
  /** For `postgres://`: go on although roles of ours have members there (`--reuse-roles`). */
  reuseRoles?: boolean;
};

/**
 * Takes the text of `--target` apart; nothing is started before `open`.
 * Throws KitError 64 for a bad text. `open` throws KitError 69 when there is no such server, and
 * rejects with the signal's reason when aborted; nothing is left behind in either case.
 */
export function openTarget(text: string, options: TargetOptions): Target {
  const spec = parseTarget(text, options.root);
  const { env, tmpDir, root, progress = () => undefined } = options;
  switch (spec.kind) {
    case 'embedded':
      return {
        name: text,
        open: async (signal) => {
          const native = await findPrograms(spec.major, { env, root, signal, progress });
          return serve({ native }, EMBEDDED, { env, tmpDir, signal, progress });
        },
      };
    case 'local':
      return {
        name: text,
        open: (signal) => serve({ bin: spec.bin }, LOCAL, { env, tmpDir, signal, progress }),
      };
    case 'url':
      return {
        // Never the URL: it may hold a password, and a host is nobody's business.
        name: 'url',
        open: (signal) =>
          openUrl(spec.url, { env, signal, progress, reuseRoles: options.reuseRoles ?? false }),
      };
    case 'container':
      return {
        name: text,
        open: (signal) => openContainer(spec.image, { signal, progress }),
      };
  }
}

const LOCAL: ReadonlySet<Need> = new Set<Need>(['own_server', 'superuser', 'server_kill', 'pgtap']);
/** The programs are the run's own copy, so extension files may be put there. */
const EMBEDDED: ReadonlySet<Need> = new Set<Need>([...LOCAL, 'extension_files']);

async function serve(
  programs: Programs,
  can: ReadonlySet<Need>,
  options: { env: Env; tmpDir: string; signal: AbortSignal; progress: (text: string) => void },
): Promise<Server> {
  const cluster = await openCluster({ programs, ...options });
  try {
    return await makeServer({
      can,
      connection: (database) => cluster.connection(database),
      url: (database) => cluster.url(database),
      maintenance: 'postgres',
      dropDatabases: false,
      kill: () => cluster.kill(),
      restart: () => cluster.restart(),
      close: async () => {
        await cluster[Symbol.asyncDispose]();
      },
    });
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}
