import { readFile } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import { KitError, messageOf } from '../errors.ts';
import type { Manifest } from '../types.ts';
import { filesUnder } from './files.ts';
import { parseManifest } from './parse.ts';
import { refuseProblems, type Problem } from './problem.ts';
import { textHash } from './text_hash.ts';

/**
 * The manifest of a file, with its check files found and its clause texts compared. Check files are
 * relative to the folder that holds `selftest/`, or to the manifest's own folder elsewhere.
 *
 * @throws KitError 64 when there is no such file; 65 with a line for every problem; 3 when a
 * clause's text is not the one that its checks were reviewed against.
 */
export async function loadManifest(path: string): Promise<Manifest> {
  const manifest = await readManifest(path);
  refuseProblems(changedTexts(manifest), 3);
  return manifest;
}

/** The same without the comparison of texts, for commands that only show what is written. */
export async function readManifest(path: string): Promise<Manifest> {
  const absolute = resolve(path);
  const root = rootOf(absolute);
  let text: string;
  try {
    text = await readFile(absolute, 'utf8');
  } catch (thrown) {
    throw new KitError(
      64,
      `cannot read the manifest ${path}: ${messageOf(thrown)}`,
      'run this in the project folder, or name the file with --manifest FILE',
    );
  }
  return parseManifest(text, relative(root, absolute), {
    path: absolute,
    root,
    files: filesUnder(root),
  });
}

/** Clauses whose text is not the one that their checks were reviewed against (kit.md, exit 3). */
export function changedTexts(manifest: Manifest): Problem[] {
  return manifest.clauses.flatMap((clause) => {
    const hash = textHash(clause.statement);
    if (hash === clause.textHash) return [];
    const what = clause.textHash === '' ? 'was not yet reviewed' : 'has changed since the review';
    const message = `the text of ${clause.id} ${what}; once its checks prove this text, set text_hash: ${hash}`;
    return [{ ...clause.at, message }];
  });
}

function rootOf(manifestPath: string): string {
  const folder = dirname(manifestPath);
  return basename(folder) === 'selftest' ? dirname(folder) : folder;
}
