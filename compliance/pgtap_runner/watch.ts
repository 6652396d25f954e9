/** Watches test files, and what they include, and says which of them have to run again. */
import { watch as watchFolder } from 'node:fs';
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

/**
 * Yields the paths that changed, of those that are watched, until the signal is aborted.
 * `watched` is asked again after each change, since a file may have got another include.
 */
export async function* changes(
  watched: () => Promise<ReadonlySet<string>>,
  signal: AbortSignal,
): AsyncGenerator<ReadonlySet<string>> {
  while (!signal.aborted) {
    const paths = await watched();
    const changed = await firstChange(paths, signal);
    if (changed.size > 0) yield changed;
  }
}

async function firstChange(
  paths: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const changed = new Set<string>();
  let wake: () => void = () => undefined;
  const woken = new Promise<void>((resolve) => (wake = resolve));
  const watchers = [...new Set([...paths].map((file) => path.dirname(file)))].map((folder) =>
    watchFolder(folder, (_, name) => {
      const file = path.join(folder, name ?? '');
      if (!paths.has(file)) return;
      changed.add(file);
      wake();
    }),
  );
  signal.addEventListener('abort', wake, { once: true });
  try {
    await woken;
    await delay(SETTLE_MS, undefined, { signal }).catch(() => undefined);
  } finally {
    signal.removeEventListener('abort', wake);
    for (const watcher of watchers) watcher.close();
  }
  return signal.aborted ? new Set() : changed;
}
