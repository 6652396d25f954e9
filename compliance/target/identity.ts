/**
 * Who the server runs as. PostgreSQL refuses to run as root, so root hands it to an unprivileged
 * user; anybody else runs it as they are.
 */
import { spawn } from 'node:child_process';
import { geteuid } from 'node:process';

export type Identity = { uid: number; gid: number };

/** `nobody` on every Linux distribution, and a number that needs no entry in /etc/passwd. */
const UNPRIVILEGED: Identity = { uid: 65534, gid: 65534 };

/** The user to run the server as, or undefined when it is the kit's own. */
export function serverIdentity(): Identity | undefined {
  return geteuid?.() === 0 ? UNPRIVILEGED : undefined;
}

/**
 * Whether that user can run a program: it is run, with `--version`, as that user. Reading the mode
 * bits would miss unreadable parents, ACLs, noexec mounts and missing libraries.
 * Returns undefined when it ran, otherwise what was in the way.
 */
export function probe(
  program: string,
  identity: Identity | undefined,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, ['--version'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: '/',
      env: { LC_ALL: 'C' },
      ...identity,
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', (error) => {
      resolve(error.message);
    });
    child.once('close', (code) => {
      resolve(code === 0 ? undefined : stderr.trim() || `it ended with code ${code ?? 'none'}`);
    });
  });
}
