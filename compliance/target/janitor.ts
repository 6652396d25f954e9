/**
 * Worker process of the `postgres://` target: the one that takes away what the kit made there. It
 * reads its order, waits until the kit closes the pipe or dies, and then drops the databases and
 * roles. So there is one way to clean up, and SIGKILL of the kit takes it too.
 */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** What is ours on that server. */
export type JanitorOrder = {
  url: string;
  /** Databases whose names begin so, and sessions whose application names do. */
  prefix: string;
  /** Roles to drop unless something still uses them. */
  dropRoles: readonly string[];
  /** Memberships of the user that were not there before. */
  leaveRoles: readonly string[];
};
export type JanitorReport = { problem?: string };

const LIMIT_MS = 30_000;
const DEPENDENT_OBJECTS = '2BP01';

// Ctrl-C and a closing terminal are for the kit; the janitor ends when its work is done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// A kit that died reads no report.
process.stdout.on('error', () => undefined);

let order: JanitorOrder | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  order = JSON.parse(line) as JanitorOrder;
  process.stdout.write('ready\n');
}
const report = await clean(order).then(
  (): JanitorReport => ({}),
  (error: unknown): JanitorReport => ({ problem: String(error) }),
);
process.stdout.write(JSON.stringify(report));

/** Without an order the kit died before it made anything. */
async function clean(order: JanitorOrder | undefined): Promise<void> {
  if (!order) return;
  const client = new pg.Client({ connectionString: order.url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await dropDatabases(client, order.prefix);
    for (const role of order.dropRoles) await dropRole(client, role);
    for (const role of order.leaveRoles) await leaveRole(client, role);
  } finally {
    await client.end();
  }
}

/** A killed kit may have a `create database` under way, which goes on without it: end that first. */
async function dropDatabases(client: pg.Client, prefix: string): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const { rows } = await client.query<{ name: string; busy: boolean }>(
      `select datname::text as name, false as busy from pg_database where starts_with(datname, $1)
       union all
       select pid::text, pg_terminate_backend(pid) is not null
       from pg_stat_activity
       where starts_with(application_name, $1) and usename = current_user and pid <> pg_backend_pid()`,
      [prefix],
    );
    if (rows.length === 0) return;
    if (Date.now() > deadline)
      throw new Error(`still there: ${rows.map(({ name }) => name).join(', ')}`);
    const databases = rows.filter(({ busy }) => !busy);
    for (const { name } of databases) {
      await client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`);
    }
    if (databases.length === 0) await pause(20);
  }
}

/** A role that another gate or an installation uses meanwhile stays for them. */
async function dropRole(client: pg.Client, role: string): Promise<void> {
  try {
    await client.query(`drop role if exists ${client.escapeIdentifier(role)}`);
  } catch (error) {
    if ((error as { code?: string }).code !== DEPENDENT_OBJECTS) throw error;
  }
}

async function leaveRole(client: pg.Client, role: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
  if (rowCount) await client.query(`revoke ${client.escapeIdentifier(role)} from current_user`);
}
