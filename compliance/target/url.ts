/**
 * The `postgres://` target: an existing server, on which the kit makes databases of its own beside
 * what is there, and takes them away again at every end (kit.md, "Where the server comes from").
 */
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { userInfo } from 'node:os';
import { KitError, messageOf } from '../errors.ts';
import { makeServer } from '../sandbox/server.ts';
import { openSession } from '../sandbox/session.ts';
import type { Need, Server, Session } from '../types.ts';
import { aborting } from './aborting.ts';
import { describeAddress, isSocket, readAddress, urlOf, type Address } from './address.ts';
import type { Env } from './fetch.ts';
import { startJanitor } from './janitor_process.ts';
import { problemsOf, QUEUE_ROLES, readFacts, type ServerFacts } from './rights.ts';

const CONNECT_LIMIT_MS = 10_000;

/**
 * Opens the server. Throws KitError 69 when it cannot be reached, naming why, and when a right is
 * missing, naming each. Nothing was changed then.
 */
export async function openUrl(
  url: string,
  options: { env: Env; reuseRoles: boolean; signal: AbortSignal; progress: (text: string) => void },
): Promise<Server> {
  const { signal } = options;
  const address = await withPassword(readAddress(url, options.env, systemUser(options.env)));
  options.progress(`connecting to ${describeAddress(address)}`);
  const { reached, facts } = await aborting(inspect(address), signal);
  const problems = problemsOf(facts, options.reuseRoles);
  if (problems.length > 0) {
    throw new KitError(
      69,
      `${describeAddress(address)} cannot be used:\n${problems.map(({ message }) => `- ${message}`).join('\n')}`,
      problems.map(({ hint }) => hint).join('\n'),
    );
  }
  const prefix = `dieu45_${randomBytes(4).toString('hex')}`;
  const settings = (database: string) => ({
    connectionString: urlOf(reached, database),
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
  });
  const existing = facts.roles.map(({ name }) => name);
  const memberOf = facts.roles.filter(({ member }) => member).map(({ name }) => name);
  const janitor = await startJanitor({
    url: urlOf(reached, reached.database),
    prefix,
    dropRoles: QUEUE_ROLES.filter((name) => !existing.includes(name)),
    leaveRoles: existing.filter((name) => !facts.superuser && !memberOf.includes(name)),
  });
  try {
    return await makeServer({
      can: new Set<Need>(facts.superuser ? ['superuser', 'pgtap'] : ['pgtap']),
      prefix,
      connection: settings,
      url: (database) => urlOf(reached, database),
      maintenance: reached.database,
      dropDatabases: true,
      afterBuild: (session) => joinRoles(session, facts),
      close: () => janitor.close(),
    });
  } catch (error) {
    await janitor.close();
    throw error;
  }
}

/** A plain user must be a member of a role before a session of it can `set role`. */
async function joinRoles(session: Session, { superuser }: ServerFacts): Promise<void> {
  if (superuser) return;
  const roles = await session.query<{ name: string }>(
    `select quote_ident(rolname) as name from pg_roles
     where rolname = any($1) and not pg_has_role(current_user, oid, 'usage')
     order by 1`,
    [QUEUE_ROLES],
  );
  for (const { name } of roles) await session.query(`grant ${name} to current_user`);
}

/** Connects once, as libpq would, and reads what the server is and allows. */
async function inspect(address: Address): Promise<{ reached: Address; facts: ServerFacts }> {
  const attempts = sslmodes(address).map((sslmode) => ({ ...address, sslmode }));
  for (const [index, reached] of attempts.entries()) {
    try {
      await using session = await openSession(
        {
          connectionString: urlOf(reached, reached.database),
          connectionTimeoutMillis: CONNECT_LIMIT_MS,
        },
        'dieu45 inspect',
      );
      return { reached, facts: await readFacts(session) };
    } catch (error) {
      const plainIsNext =
        messageOf(error).includes('does not support SSL') && index < attempts.length - 1;
      if (!plainIsNext) throw unreachable(address, error);
    }
  }
  throw new Error('no way to connect was tried');
}

/** What to try in turn: without a word on TLS it is used when the server has it, as libpq does. */
function sslmodes(address: Address): string[] {
  if (isSocket(address)) return ['disable'];
  return ['prefer', 'allow'].includes(address.sslmode) ? ['require', 'disable'] : [address.sslmode];
}

function unreachable(address: Address, error: unknown): KitError {
  // A host with several addresses fails with one error for each, and no message of its own.
  const reasons =
    error instanceof AggregateError ? error.errors.map(messageOf) : [messageOf(error)];
  return new KitError(
    69,
    `cannot connect to ${describeAddress(address)}: ${reasons.join('; ')}`,
    'try the same URL with psql; the password may stand in PGPASSWORD or in ~/.pgpass',
  );
}

/** The password of ~/.pgpass for the URL's own database serves for the databases that are made. */
async function withPassword(address: Address): Promise<Address> {
  if (address.password !== undefined) return address;
  const pgpass = createRequire(import.meta.url)('pgpass') as (
    of: { host: string; port: string; database: string; user: string },
    done: (password: string | undefined) => void,
  ) => void;
  const host = isSocket(address) ? 'localhost' : address.host;
  const password = await new Promise<string | undefined>((resolve) => {
    pgpass({ ...address, host }, resolve);
  });
  return { ...address, password };
}

function systemUser(env: Env): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER ?? 'postgres';
  }
}
