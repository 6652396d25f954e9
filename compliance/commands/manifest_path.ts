import { dirname, join, resolve } from 'node:path';
import type { Io } from './io.ts';

/** The manifest that a command reads: the one that was named, or that of this package. */
export function manifestPath(options: { manifest?: string }, io: Pick<Io, 'cwd' | 'root'>): string {
  return resolve(io.cwd, options.manifest ?? join(io.root, 'selftest/dieu45.yaml'));
}

/** The Council's decisions stand beside the manifest. */
export function ratifiedPath(manifest: string): string {
  return join(dirname(manifest), 'ratified.yaml');
}
