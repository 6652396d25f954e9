/**
 * A throwaway cluster: a fresh folder, initdb, a server on a unix socket alone, and everything gone
 * at the end. No network port is opened, and nothing outside the folder is written.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { KitError } from '../errors.ts';
import { aborting } from './aborting.ts';
import type { Env } from './fetch.ts';
import { hasName, probe, serverIdentity, type Identity } from './identity.ts';
import { startKeeper, type Keeper } from './keeper.ts';
import { killServer } from './kill.ts';
import { memoryFolder } from './memory.ts';
import { candidateFolders } from './places.ts';
import { copyPrograms } from './programs.ts';
import { settingsText } from './settings.ts';

const START_LIMIT_MS = 60_000;

const SPACE_HINT = 'make room, or set TMPDIR to a folder that has 200 MB of it';
/** What a line of the server's log means for people. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /could not look up effective user|unshare/,
    'initdb needs a name for the user that runs it: add the user to /etc/passwd',
  ],
  [/No space left on device/, SPACE_HINT],
];

export type Programs =
  /** A relocatable tree with bin, lib and share: copied for this run. */
  | { native: string }
  /** An installation of the machine: used where it is. */
  | { bin: string };

export type Cluster = AsyncDisposable & {
  folder: string;
  /** The folder of the server's programs. */
  bin: string;
  connection(database: string): pg.ClientConfig;
  url(database: string): string;
  kill(): Promise<void>;
  restart(): Promise<void>;
};

export type ClusterOptions = {
  programs: Programs;
  env: Env;
  tmpDir: string;
  signal: AbortSignal;
  progress: (text: string) => void;
  /** Further lines for postgresql.conf. */
  settings?: Readonly<Record<string, string>>;
};

/**
 * Makes and starts a cluster. Throws KitError 69 when the server cannot be started, with the end of
 * its log; rejects with the signal's reason when aborted. Either way nothing is left behind.
 */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { signal } = options;
  signal.throwIfAborted();
  const identity = await serverIdentity();
  const keeper = await openKeeper(options, identity);
  try {
    const bin = await placePrograms(options.programs, keeper, identity);
    signal.throwIfAborted();
    options.progress('making a database cluster');
    keeper.programs(bin);
    if (!identity && !hasName()) keeper.unnamed();
    await initdb(keeper, signal);
    await writeFile(
      join(keeper.folder, 'data', 'postgresql.conf'),
      settingsText(keeper.folder, options.env, options.settings),
    );
    options.progress('starting PostgreSQL');
    let running = await start(keeper, signal);
    return {
      folder: keeper.folder,
      bin,
      connection: (database) => ({
        host: keeper.folder,
        port: 5432,
        user: 'postgres',
        database,
        ssl: false,
      }),
      url: (database) =>
        `postgresql://postgres@localhost:5432/${database}?host=${encodeURIComponent(keeper.folder)}`,
      async kill() {
        await killServer(await postmasterPid(keeper));
        await running.ended;
      },
      async restart() {
        running = await start(keeper, signal);
      },
      async [Symbol.asyncDispose]() {
        await keeper.close();
      },
    };
  } catch (error) {
    await keeper.close();
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    throw new KitError(69, `no space is left for the server in ${keeper.folder}`, SPACE_HINT);
  }
}

/** The first of the places that the server's user may write to. */
async function openKeeper(
  options: ClusterOptions,
  identity: Identity | undefined,
): Promise<Keeper> {
  const { PATH = '/usr/bin:/bin', TZ = 'UTC' } = options.env;
  const env = {
    PATH,
    LC_ALL: 'C',
    // initdb would otherwise guess the zone by comparing all of them.
    TZ,
  };
  const name = `d45-${randomBytes(5).toString('hex')}`;
  let refused: unknown;
  // Who names a folder for temporary files gets that one.
  const named = options.env.TMPDIR !== undefined || options.tmpDir !== tmpdir();
  const memory = named ? undefined : await memoryFolder();
  for (const folder of candidateFolders(options.tmpDir, name, memory)) {
    try {
      return await startKeeper(folder, identity, env);
    } catch (error) {
      refused = error;
    }
  }
  throw refused;
}

/** Puts the programs where the server's user can run them, and proves that it can. */
async function placePrograms(
  programs: Programs,
  keeper: Keeper,
  identity: Identity | undefined,
): Promise<string> {
  let bin: string;
  if ('bin' in programs) {
    bin = programs.bin;
  } else {
    const tree = join(keeper.folder, 'server');
    await copyPrograms(programs.native, tree, identity);
    bin = join(tree, 'bin');
  }
  const names = ['postgres', 'initdb'];
  const probes = await Promise.all(names.map((program) => probe(join(bin, program), identity)));
  for (const [index, inTheWay] of probes.entries()) {
    if (inTheWay !== undefined) {
      const program = names[index] ?? '';
      const who = identity ? ` as user ${identity.uid} (PostgreSQL refuses to run as root)` : '';
      throw new KitError(
        69,
        `${join(bin, program)} cannot be run${who}: ${inTheWay}`,
        'bin' in programs
          ? 'name the folder that holds initdb and postgres, readable for that user'
          : 'set TMPDIR to a folder on a file system that allows programs to run',
      );
    }
  }
  return bin;
}

/** UTF-8 in byte order; systems without C.UTF-8 (old glibc, macOS) get C. */
async function initdb(keeper: Keeper, signal: AbortSignal): Promise<void> {
  if ((await aborting(keeper.initdb('C.UTF-8'), signal)) === 0) return;
  const unknownLocale = (await readLog(keeper)).includes('invalid locale name');
  if (unknownLocale && (await aborting(keeper.initdb('C'), signal)) === 0) return;
  throw await refusal('initdb failed', keeper);
}

type Running = { ended: Promise<void> };

/** Starts the server and waits until it takes connections; `ended` resolves when it is gone. */
async function start(keeper: Keeper, signal: AbortSignal): Promise<Running> {
  const stale = (await lockFile(keeper)).join();
  const state = { over: false };
  const end = (): void => {
    state.over = true;
  };
  const ended = keeper.start().then(end, end);
  const deadline = Date.now() + START_LIMIT_MS;
  // A killed server left its lock file, which says "ready" until the new one replaces it.
  while (!(await isReady(keeper, stale))) {
    signal.throwIfAborted();
    if (state.over) throw await refusal('the server did not start', keeper);
    if (Date.now() > deadline) {
      throw await refusal(`the server was not ready after ${START_LIMIT_MS / 1000} s`, keeper);
    }
    await pause(10);
  }
  return { ended };
}

/** The server writes its state on the eighth line of its lock file. */
async function isReady(keeper: Keeper, stale: string): Promise<boolean> {
  const lines = await lockFile(keeper);
  return lines[7]?.trim() === 'ready' && lines.join() !== stale;
}

async function postmasterPid(keeper: Keeper): Promise<number> {
  const pid = Number((await lockFile(keeper))[0]);
  if (!Number.isInteger(pid) || pid <= 0) throw new Error('the server is not running');
  return pid;
}

async function lockFile(keeper: Keeper): Promise<string[]> {
  try {
    return (await readFile(join(keeper.folder, 'data', 'postmaster.pid'), 'utf8')).split('\n');
  } catch {
    return [];
  }
}

async function readLog(keeper: Keeper): Promise<string> {
  // The folder may be gone; then there is no log to show.
  return readFile(join(keeper.folder, 'log'), 'utf8').catch(() => '');
}

/** An error with the end of the server's log. */
async function refusal(what: string, keeper: Keeper): Promise<KitError> {
  const log = (await readLog(keeper)).trim().split('\n').slice(-8).join('\n');
  const hint =
    HINTS.find(([sign]) => sign.test(log))?.[1] ?? 'run "dieu45 doctor" to see what is missing';
  return new KitError(69, `${what}\n${log}`.trim(), hint);
}
