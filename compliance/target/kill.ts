/** SIGKILL of a whole server: the postmaster and each of its children, as a crash of the machine would. */
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { platform } from 'node:os';
import { kill } from 'node:process';
import { promisify } from 'node:util';

/**
 * Kills the postmaster and its children. The postmaster is stopped first, so that it neither starts
 * another child nor cleans up after those that die. Resolves when the signals are sent.
 */
export async function killServer(postmaster: number): Promise<void> {
  kill(postmaster, 'SIGSTOP');
  const children = await childrenOf(postmaster);
  kill(postmaster, 'SIGKILL');
  for (const child of children) {
    try {
      kill(child, 'SIGKILL');
    } catch {
      // It saw the postmaster die and is gone already.
    }
  }
}

async function childrenOf(parent: number): Promise<number[]> {
  return platform() === 'linux' ? childrenByProc(parent) : childrenByPs(parent);
}

/** Reads /proc, since a slim image has no `ps`. */
async function childrenByProc(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(pids.map(parentByProc));
  return pids.filter((_, index) => parents[index] === parent);
}

async function parentByProc(pid: number): Promise<number | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    // "pid (name) state ppid …"; the name may hold spaces and parentheses.
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

async function childrenByPs(parent: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, ppid]) => ppid === parent)
    .flatMap(([pid]) => (pid === undefined ? [] : [pid]));
}
