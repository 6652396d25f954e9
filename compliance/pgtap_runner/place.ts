/** Where a test file runs: in a database of its own, or in place, in a transaction that is rolled back. */
import type pg from 'pg';
import { readScript, showWhere } from '../checks/pgtap/script.ts';
import { runSuite } from '../checks/pgtap/suite.ts';
import { KitError, messageOf } from '../errors.ts';
import { openSession } from '../sandbox/session.ts';
import { installPgtap } from '../target/index.ts';
import type { Server, Session } from '../types.ts';
import { exits } from '../verdict/exit.ts';

/** A session that a test file may use, and its end. */
export type Room = AsyncDisposable & { session: Session };
export type Place = AsyncDisposable & {
  /** In place, changes are taken back by a rollback; elsewhere the database is thrown away. */
  inPlace: boolean;
  room(name: string): Promise<Room>;
};

const PATH = `set search_path = "$user", public, tap`;

/** Each file in a database of its own, cloned from one that has pgTAP and what the setup scripts made. */
export async function ownDatabases(
  server: Server,
  setup: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<Place> {
  const template = await templateOf(server, setup, cwd, signal);
  return {
    inPlace: false,
    async room(name) {
      const sandbox = await server.sandbox(template);
      try {
        const session = await sandbox.session(name);
        await session.query(PATH);
        return { session, [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose]() };
      } catch (error) {
        await sandbox[Symbol.asyncDispose]();
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Every file in one database of a throwaway server. */
export async function oneDatabase(
  server: Server,
  setup: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<Place> {
  const template = await templateOf(server, setup, cwd, signal);
  const sandbox = await server.sandbox(template);
  return {
    inPlace: true,
    async room(name) {
      const session = await sandbox.session(name);
      await session.query(PATH);
      return { session, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
    },
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

/** Every file in a database that is there already. Nothing is installed in it for good. */
export function thisDatabase(settings: pg.ClientConfig): Place {
  return {
    inPlace: true,
    async room(name) {
      const session = await reach(settings, name);
      return { session, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** @throws KitError 69 when there is no such database, or it does not let us in. */
async function reach(settings: pg.ClientConfig, name: string): Promise<Session> {
  try {
    return await openSession(settings, name);
  } catch (error) {
    throw new KitError(
      exits.target,
      `the database cannot be reached: ${messageOf(error)}`,
      'look at the URL, the PG* variables and .pgpass',
    );
  }
}

/**
 * Makes sure that pgTAP can be called in this transaction. Where the database has none, it is
 * installed and goes away again with the rollback.
 */
export async function pgtapForNow(session: Session): Promise<void> {
  const [found] = await session.query<{ there: boolean; path: string }>(
    `select to_regprocedure('plan(integer)') is not null as there, current_setting('search_path') as path`,
  );
  if (!found || found.there) return;
  const [schema] = await session.query<{ there: boolean }>(
    `select to_regprocedure('tap.plan(integer)') is not null as there`,
  );
  if (!schema?.there) await installPgtap(session);
  const path = found.path === '' ? 'tap' : `${found.path}, tap`;
  await session.query(`set local search_path = ${path}`);
}

/** Templates are kept by their server; each setup that is read anew has a name of its own. */
const built = new WeakMap<Server, number>();

async function templateOf(
  server: Server,
  setup: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<string> {
  const number = (built.get(server) ?? 0) + 1;
  built.set(server, number);
  const name = `pgtap runner ${number}`;
  await server.template(name, async (session) => {
    await installPgtap(session);
    for (const file of setup) await runSetup(session, file, cwd, signal);
  });
  return name;
}

/** @throws KitError 1 with `file:line:col` when a setup script fails: then nothing can be tested. */
async function runSetup(
  session: Session,
  file: string,
  cwd: string,
  signal: AbortSignal,
): Promise<void> {
  const { stopped } = await runSuite(session.client, await readScript(file, cwd), { signal });
  if (!stopped) return;
  throw new KitError(
    exits.failed,
    `${showWhere(stopped.at)}: ${stopped.message} (SQLSTATE ${stopped.code})`,
    'this is a --setup script; until it runs, nothing can be tested',
  );
}
