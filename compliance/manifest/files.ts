import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What the rules ask about files, so that they can be tried without a disk. */
export type Files = {
  /** Whether a path relative to the root is a file. */
  isFile(path: string): boolean;
  /** Paths of the files beside it, relative to the root; empty when the folder does not exist. */
  beside(path: string): string[];
};

/** The files under a root folder on disk. */
export function filesUnder(root: string): Files {
  return {
    isFile: (path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() ?? false,
    beside: (path) => {
      const folder = dirname(path);
      if (!statSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory()) return [];
      return readdirSync(join(root, folder)).map((name) => join(folder, name));
    },
  };
}
