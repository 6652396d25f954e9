/**
 * Whether a throwaway server may live in memory: making and removing some hundred databases is then no
 * work for a disk. Only where there is plenty, so that nothing else on the machine is pushed out.
 */
import { readFile, statfs } from 'node:fs/promises';

const FOLDER = '/dev/shm';
/** A whole run needs 2 GiB, a million rows of three sorts twice that. */
const ROOM_BYTES = 8 * 2 ** 30;

/** The folder in memory, when programs may run there and both it and the machine have room. */
export async function memoryFolder(): Promise<string | undefined> {
  const [mounts, meminfo, limit, used] = await Promise.all(
    ['/proc/mounts', '/proc/meminfo', `${CGROUP}/memory.max`, `${CGROUP}/memory.current`].map(
      (file) => readFile(file, 'utf8').catch(() => ''),
    ),
  );
  const folder = await statfs(FOLDER).catch(() => undefined);
  const free = folder === undefined ? 0 : folder.bavail * folder.bsize;
  const room = Math.min(free, availableBytes({ meminfo, limit, used }));
  return runsPrograms(mounts ?? '') && room >= ROOM_BYTES ? FOLDER : undefined;
}

const CGROUP = '/sys/fs/cgroup';

/** From the mounts of this machine: is the folder a file system in memory that lets programs run? */
export function runsPrograms(mounts: string): boolean {
  const own = mounts.split('\n').map((line) => line.split(' '));
  const [, , type, options = ''] = own.findLast(([, place]) => place === FOLDER) ?? [];
  return type === 'tmpfs' && !/(^|,)(noexec|ro)(,|$)/.test(options);
}

/** What the machine has left, and what this process may still take of it (cgroup v2). */
export function availableBytes({
  meminfo = '',
  limit = '',
  used = '',
}: Partial<Record<'meminfo' | 'limit' | 'used', string | undefined>>): number {
  const free = Number(/^MemAvailable:\s+(\d+) kB/m.exec(meminfo)?.[1] ?? 0) * 1024;
  return /^\d+\s*$/.test(limit) ? Math.min(free, Number(limit) - Number(used)) : free;
}
