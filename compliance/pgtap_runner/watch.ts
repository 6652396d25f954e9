/** Watches test files, and what they include, and says which of them changed. */
import { watch as watchFolder, type FSWatcher } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readScript } from '../checks/pgtap/script.ts';

/** An editor writes a file in several steps; they count as one change. */
const SETTLE_MS = 100;

/** The absolute paths that a script consists of: itself and everything that it includes. */
export async function partsOf(file: string, cwd: string): Promise<ReadonlySet<string>> {
  const own = path.resolve(cwd, file);
  try {
    const steps = await readScript(file, cwd);
    return new Set([own, ...steps.map(({ at }) => path.resolve(cwd, at.file))]);
  } catch {
    // A script that cannot be read now runs again when it changes.
    return new Set([own]);
  }
}

export type Watch = {
  /** From now on, these paths and no others. What changed before and was not asked for is kept. */
  follow(paths: ReadonlySet<string>): void;
  /** Paths that changed since the last call; waits for one. Empty once the signal is aborted. */
  next(): Promise<ReadonlySet<string>>;
  close(): void;
};

/** Folders are watched, not files: editors replace a file rather than write into it. */
export function openWatch(signal: AbortSignal): Watch {
  const watchers = new Map<string, FSWatcher>();
  let followed: ReadonlySet<string> = new Set();
  let changed = new Set<string>();
  let wake: () => void = () => undefined;
  const note = (folder: string, name: string | null): void => {
    const file = path.join(folder, name ?? '');
    if (!followed.has(file)) return;
    changed.add(file);
    wake();
  };
  return {
    follow(paths) {
      followed = paths;
      const folders = new Set([...paths].map((file) => path.dirname(file)));
      for (const [folder, watcher] of watchers) {
        if (folders.has(folder)) continue;
        watcher.close();
        watchers.delete(folder);
      }
      for (const folder of folders) {
        if (watchers.has(folder)) continue;
        watchers.set(
          folder,
          watchFolder(folder, (_, name) => {
            note(folder, name);
          }),
        );
      }
    },
    async next() {
      if (changed.size === 0 && !signal.aborted)
        await untilWoken((resolve) => (wake = resolve), signal);
      await delay(SETTLE_MS, undefined, { signal }).catch(() => undefined);
      const taken = changed;
      changed = new Set();
      return signal.aborted ? new Set() : taken;
    },
    close() {
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

async function untilWoken(take: (resolve: () => void) => void, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    take(resolve);
    signal.addEventListener(
      'abort',
      () => {
        resolve();
      },
      { once: true },
    );
  });
}
