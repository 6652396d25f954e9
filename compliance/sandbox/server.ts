/**
 * Databases on a running server: templates that are built once, and sandboxes cloned from them.
 * Knows nothing of where the server comes from.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Need, Server, Session } from '../types.ts';
import { openSandbox } from './sandbox.ts';
import { openSession } from './session.ts';

export type ServerParts = {
  can: ReadonlySet<Need>;
  connection(database: string): pg.ClientConfig;
  url(database: string): string;
  /** The database to connect to for making others; never changed. */
  maintenance: string;
  /** Whether a sandbox is dropped when it closes; false where the whole cluster is thrown away. */
  dropDatabases: boolean;
  /** What the names of its databases and its own sessions begin with; random when not given. */
  prefix?: string;
  /** Runs in a template's database after it was built. */
  afterBuild?(session: Session): Promise<void>;
  kill?(): Promise<void>;
  restart?(): Promise<void>;
  /** The last step of disposal: takes away what is left of the kit's, databases included. */
  close(): Promise<void>;
};

/** Makes a Server over connections that work. Throws what the first connection throws. */
export async function makeServer(parts: ServerParts): Promise<Server> {
  const prefix = parts.prefix ?? `dieu45_${randomBytes(4).toString('hex')}`;
  const admin = new pg.Pool({
    ...parts.connection(parts.maintenance),
    application_name: `${prefix} admin`,
    max: 4,
    allowExitOnIdle: true,
  });
  admin.on('error', () => undefined);
  const versionNum = await readVersion(admin);

  const templates = new Map<string, Promise<string>>();
  let building: Promise<unknown> = Promise.resolve();
  let count = 0;

  const create = async (database: string, from: string): Promise<void> => {
    await admin.query(`create database "${database}" template "${from}"`);
  };
  const drop = async (database: string): Promise<void> => {
    await admin.query(`drop database if exists "${database}" with (force)`);
  };
  const build = async (
    name: string,
    fill: (session: Session) => Promise<void>,
  ): Promise<string> => {
    const database = `${prefix}_t_${name.toLowerCase().replace(/[^a-z0-9]+/g, '_')}`.slice(0, 63);
    await create(database, 'template0');
    try {
      {
        await using session = await openSession(parts.connection(database), `dieu45 build ${name}`);
        await fill(session);
        await parts.afterBuild?.(session);
      }
      // Nobody may connect any more, since a connection would stand in the way of cloning. One that is
      // still leaving does not: the server itself waits 5 s for it.
      await admin.query(`alter database "${database}" allow_connections false`);
    } catch (error) {
      await drop(database);
      throw error;
    }
    return database;
  };

  const server: Server = {
    versionNum,
    can: parts.can,
    connection: (database) => parts.connection(database),
    async template(name, fill) {
      let built = templates.get(name);
      if (!built) {
        // One at a time: installing makes roles, which all databases of a cluster share.
        built = building.then(() => build(name, fill));
        building = built.catch(() => undefined);
        templates.set(name, built);
        built.catch(() => templates.delete(name));
      }
      await built;
    },
    async sandbox(name) {
      const template = templates.get(name);
      if (!template) throw new Error(`there is no template ${JSON.stringify(name)}`);
      const from = await template;
      const database = `${prefix}_s${++count}`;
      await create(database, from);
      return openSandbox({
        database,
        url: parts.url(database),
        server,
        settings: parts.connection(database),
        async close() {
          if (parts.dropDatabases) await drop(database);
          else await endBackends(admin, database);
        },
      });
    },
    async [Symbol.asyncDispose]() {
      await admin.end();
      await parts.close();
    },
  };
  if (parts.kill) server.kill = () => parts.kill?.() ?? Promise.resolve();
  if (parts.restart) server.restart = () => parts.restart?.() ?? Promise.resolve();
  return server;
}

async function readVersion(admin: pg.Pool): Promise<number> {
  const { rows } = await admin.query<{ version: string }>(
    `select current_setting('server_version_num') as version`,
  );
  return Number(rows[0]?.version);
}

/** Ends what a check left running, a blocked or looping backend included. */
async function endBackends(admin: pg.Pool, database: string): Promise<void> {
  try {
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      database,
    ]);
  } catch {
    // The server was killed: so were its backends.
  }
}
