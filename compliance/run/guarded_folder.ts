/**
 * A temporary folder that outlives no ending of the kit. A small `sh` waits on a pipe that is open
 * as long as the kit runs; however it ends, SIGKILL included, the pipe closes and the folder goes.
 */
import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';

export type GuardedFolder = AsyncDisposable & { path: string };

/** Signals are for the kit; this process ends when the kit does. */
const SCRIPT = `trap '' HUP INT QUIT TERM; read -r _; rm -rf -- "$1"`;

/** Makes `<parent>/<prefix>XXXXXX`. Disposing resolves when it is gone, or was moved away. */
export async function guardedFolder(parent: string, prefix: string): Promise<GuardedFolder> {
  const path = await mkdtemp(join(parent, prefix));
  const guard = spawn('/bin/sh', ['-c', SCRIPT, 'dieu45-guard', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  });
  const gone = new Promise<void>((resolve, reject) => {
    guard.once('error', reject);
    guard.once('close', () => {
      resolve();
    });
  });
  gone.catch(() => undefined);
  guard.stdin.on('error', () => undefined);
  return {
    path,
    async [Symbol.asyncDispose]() {
      guard.stdin.end();
      await gone;
    },
  };
}
