/** Where a cluster's folder may be. Pure. */
import { join } from 'node:path';

/** A socket path is limited to 107 bytes on Linux and 103 on macOS; the socket's own name takes 14. */
const MAX_FOLDER_BYTES = 103 - '/.s.PGSQL.5432'.length;
/** initdb runs the server through a shell and quotes its path with nothing but quotation marks. */
const BREAKS_INITDB = /["$`\\\n]/;

/**
 * The folders to try, in order: in memory where that is given, in the folder for temporary files when
 * PostgreSQL can live under its name, then in `/tmp`.
 */
export function candidateFolders(tmpDir: string, name: string, memory?: string): string[] {
  return [...new Set([...(memory === undefined ? [] : [memory]), tmpDir, '/tmp'])]
    .map((place) => join(place, name))
    .filter(
      (folder) => Buffer.byteLength(folder) <= MAX_FOLDER_BYTES && !BREAKS_INITDB.test(folder),
    );
}
