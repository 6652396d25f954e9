/** What the tests of this folder share. Tests only. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFile, readdir, readlink, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster, ClusterOptions } from './cluster.ts';
import { SERVER_SCOPE } from './versions.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Folder of the server that comes with the project. Looked for when asked: the victim of the tests
 * is bundled elsewhere, from where the project's packages cannot be found.
 */
export function nativeFolder(): string {
  const main = createRequire(import.meta.url).resolve(`${SERVER_SCOPE}/${platform()}-${arch()}`);
  return join(dirname(dirname(main)), 'native');
}

/** Options for a cluster of the project's own server. */
export function options(more: Partial<ClusterOptions> = {}): ClusterOptions {
  return {
    programs: { native: nativeFolder() },
    env: {},
    tmpDir: tmpdir(),
    signal: new AbortController().signal,
    progress: () => undefined,
    ...more,
  };
}

/** Polls a condition until it holds. @throws when the limit has passed */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 20_000,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`${what}: not so after ${limitMs} ms`);
    await pause(10);
  }
}

/** What a cluster occupies, so that it can be looked for after its end. */
export type Traces = { folder: string; sharedMemoryId: string };

/** @throws when the cluster is not running */
export async function tracesOf({ folder }: Pick<Cluster, 'folder'>): Promise<Traces> {
  const lock = (await readFile(join(folder, 'data/postmaster.pid'), 'utf8')).split('\n');
  const sharedMemoryId = lock[6]?.trim().split(/\s+/)[1];
  if (sharedMemoryId === undefined) throw new Error('the lock file names no shared memory');
  return { folder, sharedMemoryId };
}

/** Everything of a cluster that is still there: folder, processes, shared memory. Reads /proc. */
export async function remains({ folder, sharedMemoryId }: Traces): Promise<string[]> {
  const left: string[] = [];
  if (await stat(folder).catch(() => undefined)) left.push(`folder ${folder}`);
  const segments = await sharedMemory();
  if (segments.some(({ id }) => id === sharedMemoryId)) left.push(`segment ${sharedMemoryId}`);
  return [...left, ...(await processesIn(folder))];
}

/** Every System V segment of the machine, with the process that made it. */
export async function sharedMemory(): Promise<{ id: string; creator: string }[]> {
  const lines = (await readFile('/proc/sysvipc/shm', 'utf8')).trim().split('\n').slice(1);
  return lines.map((line) => {
    const fields = line.trim().split(/\s+/);
    return { id: fields[1] ?? '', creator: fields[4] ?? '' };
  });
}

/** Processes that were started with a path in this folder, or stand in it. */
export async function processesIn(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      const here = command.includes(folder) || cwd.startsWith(folder);
      return here ? [`process ${pid} ${command.replaceAll('\0', ' ').trim()}`] : [];
    }),
  );
  return found.flat();
}

/** A process of another user that opens a cluster and then waits to be killed. */
export type Child = { process: ChildProcess; traces: Traces; whoami: number };

/**
 * Runs the bundled `testing_child.ts`. Resolves when its cluster is up, with its traces.
 * @throws when it ends before
 */
export async function startChild(
  bundle: string,
  native: string,
  identity: { uid?: number; gid?: number } = {},
): Promise<Child> {
  const child = spawn('node', [bundle, native, tmpdir()], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
    ...identity,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await until(
    'the child says what it opened',
    () => {
      if (child.exitCode !== null) throw new Error(`the child ended: ${stderr}`);
      return stdout.includes('\n');
    },
    50_000,
  );
  const said = JSON.parse(stdout) as { traces: Traces; whoami: number };
  return { process: child, ...said };
}
