/**
 * The evidence bundle on disk. It is written into a folder beside its place and takes that place in
 * one rename, so a bundle is whole or is not there; an earlier one stays until then.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { KitError, messageOf } from '../errors.ts';
import { type GuardedFolder, guardedFolder } from '../run/guarded_folder.ts';
import { exits } from '../verdict/exit.ts';
import type { Redact } from './redact.ts';

export type Bundle = AsyncDisposable & {
  /** Copies a text file to `evidence/<owner>/<name>` and returns that path, relative to the bundle. */
  keep(owner: string, name: string, from: string): Promise<string>;
  write(name: string, text: string): Promise<void>;
  /** Puts the bundle in its place. Without it, disposing leaves no trace. */
  commit(): Promise<void>;
};

/**
 * Opens a bundle that will stand at `path`. Files that checks made pass through `redact`; what is
 * written as text must have done so already.
 * @throws KitError 64 when that place cannot be written, or holds something that is no bundle.
 */
export async function openBundle(path: string, redact: Redact): Promise<Bundle> {
  const place = resolve(path);
  await refuseForeign(place, path);
  const folder = await makeBeside(place, path);
  const making = folder.path;
  const taken = new Set<string>();
  return {
    async keep(owner, name, from) {
      const to = unused(join('evidence', safe(owner), safe(name)), taken);
      await mkdir(join(making, dirname(to)), { recursive: true });
      await copyRedacted(from, join(making, to), redact);
      return to;
    },
    write: (name, text) => writeFile(join(making, name), text),
    async commit() {
      const before = `${making}.before`;
      const replaced = await renamed(place, before);
      await rename(making, place);
      if (replaced) await rm(before, { recursive: true, force: true });
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Only a bundle, an empty folder or nothing at all is replaced: a wrong `--out` destroys nothing. */
async function refuseForeign(place: string, path: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(place);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw unusable(path, error);
  }
  if (names.length === 0 || names.includes('report.json')) return;
  throw new KitError(
    exits.usage,
    `--out ${path}: this folder holds other things than an evidence bundle`,
    'name a new or empty folder',
  );
}

async function makeBeside(place: string, path: string): Promise<GuardedFolder> {
  try {
    await mkdir(dirname(place), { recursive: true });
    return await guardedFolder(dirname(place), `.${basename(place)}-`);
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): KitError {
  return new KitError(
    exits.usage,
    `--out ${path}: the evidence cannot be written there: ${messageOf(error)}`,
    'name a folder that may be written to, or leave --out away to write none',
  );
}

/** Line by line, since a history may be larger than memory. */
async function copyRedacted(from: string, to: string, redact: Redact): Promise<void> {
  const lines = createInterface({ input: createReadStream(from), crlfDelay: Infinity });
  await pipeline(async function* () {
    for await (const line of lines) yield `${redact(line)}\n`;
  }, createWriteStream(to));
}

/** Whether there was something to rename. */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function unused(path: string, taken: Set<string>): string {
  let candidate = path;
  for (let n = 2; taken.has(candidate); n += 1) candidate = `${path}-${n}`;
  taken.add(candidate);
  return candidate;
}

/** A file name that is one on every system, and never leads out of the folder. */
function safe(name: string): string {
  const plain = name.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^\.+/, '');
  return plain === '' ? 'file' : plain;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
