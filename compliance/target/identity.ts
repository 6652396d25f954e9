/**
 * Who the server runs as. PostgreSQL refuses to run as root, so root hands it to an unprivileged
 * user; anybody else runs it as they are.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { geteuid } from 'node:process';

export type Identity = { uid: number; gid: number };

const NOBODY: Identity = { uid: 65534, gid: 65534 };

/** The user to run the server as, or undefined when it is the kit's own. */
export async function serverIdentity(): Promise<Identity | undefined> {
  if (geteuid?.() !== 0) return undefined;
  return unprivilegedUser(await readFile('/etc/passwd', 'utf8').catch(() => ''));
}

/**
 * The unprivileged user of a machine, from the text of its /etc/passwd: initdb runs only as a user
 * that has a name. Everywhere in use today that is 65534; older systems have `nobody` elsewhere. Pure.
 */
export function unprivilegedUser(passwd: string): Identity {
  const users = passwd.split('\n').map((line) => line.split(':'));
  const known =
    users.find((fields) => Number(fields[2]) === NOBODY.uid) ??
    users.find((fields) => fields[0] === 'nobody' && Number(fields[2]) > 0);
  return known ? { uid: Number(known[2]), gid: Number(known[3]) } : NOBODY;
}

/** Whether the kit's own user has a name; in a container it may be a number alone. */
export function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
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
