/** One database of one check: named sessions that are always closed, planted faults, time travel. */
import type pg from 'pg';
import type { Sandbox, Server, Session } from '../types.ts';
import { openSession } from './session.ts';
import { shiftTimestamps } from './shift.ts';

export type SandboxParts = {
  database: string;
  url: string;
  server: Server;
  /** Connection settings of the database's owner. */
  settings: pg.ClientConfig;
  /** Ends every backend of the database, and drops it where the target asks for that. */
  close(database: string): Promise<void>;
};

/** Makes the seam that a check sees. Nothing connects before it is asked to. */
export function openSandbox(parts: SandboxParts): Sandbox {
  const sessions = new Set<Session>();
  let owner: Promise<Session> | undefined;
  let closed = false;
  const isClosed = (): boolean => closed;

  const open = async (name: string, role?: string): Promise<Session> => {
    if (isClosed()) throw new Error(`the sandbox ${parts.database} is closed`);
    const session = await openSession(parts.settings, name, role);
    sessions.add(session);
    // The sandbox may have been closed while the connection was being made.
    if (isClosed()) await session[Symbol.asyncDispose]();
    return session;
  };
  /** The one session for planting; a new one after the server was killed. */
  const asOwner = async (): Promise<Session> => {
    owner ??= open('dieu45 owner').then((session) => {
      session.client.once('end', () => (owner = undefined));
      return session;
    });
    owner.catch(() => (owner = undefined));
    return owner;
  };
  return {
    database: parts.database,
    url: parts.url,
    server: parts.server,
    session: open,
    async plant(sql) {
      await (await asOwner()).query(sql);
    },
    async shift(seconds) {
      await shiftTimestamps(await asOwner(), seconds);
    },
    async [Symbol.asyncDispose]() {
      if (isClosed()) return;
      closed = true;
      await Promise.all([...sessions].map((session) => session[Symbol.asyncDispose]()));
      await parts.close(parts.database);
    },
  };
}
