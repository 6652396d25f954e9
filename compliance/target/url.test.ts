import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installSubstrate } from '../substrate/index.ts';
import type { Server } from '../types.ts';
import { openCluster, type Cluster } from './cluster.ts';
import { installPgtap, openTarget } from './index.ts';
import { selfSigned } from './testing_certificate.ts';
import { options, ROOT, until } from './testing.ts';

/** A server that is not ours: passwords, TLS, a database with data, users with and without rights. */
let cluster: Cluster;
let folder: string;
/** An address of its own on the loopback network, so that no port can be taken. */
const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(2, 255)}`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'd45-url-'));
  await chmod(folder, 0o755);
  const { cert, key } = selfSigned();
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(
    join(folder, 'hba.conf'),
    [
      'local all all trust',
      'hostssl all tls all scram-sha-256',
      'hostnossl all tls all reject',
      'hostnossl all plain all scram-sha-256',
      'hostssl all plain all reject',
      'host all all all scram-sha-256',
    ].join('\n'),
  );
  cluster = await openCluster(
    options({
      settings: { listen_addresses: address, hba_file: join(folder, 'hba.conf') },
    }),
  );
  await admin('create table shop (item text)');
  await admin(`insert into shop values ('kept')`);
  for (const user of ['ci', 'tls', 'plain']) {
    await admin(`create role ${user} login createdb createrole password 'pass/${user}'`);
  }
  await admin(`create role weak login password 'pass/weak'`);
  await writeFile(join(cluster.folder, 'data/server.crt'), cert);
  // The server takes a key only from its own user.
  const keyFile = join(cluster.folder, 'data/server.key');
  const { uid, gid } = await stat(join(cluster.folder, 'data'));
  await writeFile(keyFile, key, { mode: 0o600 });
  await chown(keyFile, uid, gid);
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function admin(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(cluster.connection('postgres'));
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Everything that must be as it was: databases, roles with their members and comments, the data. */
async function inventory(): Promise<unknown> {
  return admin(`
    select array(select datname::text from pg_database order by 1) as databases,
      array(select concat_ws(' ', rolname, shobj_description(oid, 'pg_authid')) from pg_roles order by 1) as roles,
      array(select concat_ws(' ', roleid::regrole, member::regrole) from pg_auth_members order by 1) as members,
      array(select item from shop) as shop`);
}

const urlFor = (user: string, more = ''): string =>
  `postgres://${user}:${encodeURIComponent(`pass/${user}`)}@${address}:5432/postgres${more}`;

async function open(url: string, more: { reuseRoles?: boolean } = {}): Promise<Server> {
  const target = openTarget(url, { env: {}, tmpDir: tmpdir(), root: ROOT, ...more });
  return target.open(new AbortController().signal);
}

test('a user without superuser builds, checks and leaves the server as it was', async () => {
  const before = await inventory();
  {
    await using server = await open(urlFor('ci'));
    expect([...server.can]).toEqual(['pgtap']);
    await server.template('substrate', async (session) => {
      expect(await installPgtap(session)).toBe('sql');
      await installSubstrate(session, join(ROOT, 'sql'));
    });
    await using sandbox = await server.sandbox('substrate');
    expect(sandbox.database).toMatch(/^dieu45_/);
    await using auditor = await sandbox.session('auditor', 'dot_auditor');
    expect(await auditor.query('select current_user::text as who')).toEqual([
      { who: 'dot_auditor' },
    ]);
    await sandbox.plant(`update job_executor set executor = executor`);
    await sandbox.shift(60);
    const worker = new pg.Client(sandbox.url);
    await worker.connect();
    await worker.end();
    // Left open on purpose: the end of the server must take it away.
    await server.sandbox('substrate');
  }
  expect(await inventory()).toEqual(before);
});

test('a sandbox that is closed is dropped at once', async () => {
  await using server = await open(urlFor('ci'));
  await server.template('empty', () => Promise.resolve());
  const sandbox = await server.sandbox('empty');
  await sandbox.session('left open');
  await sandbox[Symbol.asyncDispose]();
  expect(await admin(`select from pg_database where datname = '${sandbox.database}'`)).toEqual([]);
});

test('two gates at once leave nothing, and neither takes roles from the other', async () => {
  const before = await inventory();
  const first = await open(urlFor('ci'));
  const second = await open(urlFor('ci'));
  const install = (server: Server): Promise<void> =>
    server.template('substrate', (session) => installSubstrate(session, join(ROOT, 'sql')));
  await Promise.all([install(first), install(second)]);
  await first[Symbol.asyncDispose]();
  await using sandbox = await second.sandbox('substrate');
  const session = await sandbox.session('auditor', 'dot_auditor');
  expect(await session.query('select from v_queue_config limit 1')).toHaveLength(1);
  await sandbox[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  expect(await inventory()).toEqual(before);
});

test('a kit that is killed in the middle leaves nothing', async () => {
  const before = await inventory();
  const script = `
    import { openTarget } from ${JSON.stringify(join(ROOT, 'dist/target/index.js'))};
    import { installSubstrate } from ${JSON.stringify(join(ROOT, 'dist/substrate/index.js'))};
    const target = openTarget(${JSON.stringify(urlFor('ci'))}, { env: {}, tmpDir: '/tmp', root: '/' });
    const server = await target.open(new AbortController().signal);
    await server.template('substrate', (session) => installSubstrate(session, ${JSON.stringify(join(ROOT, 'sql'))}));
    console.log('made');
    for (;;) await (await server.sandbox('substrate')).session('one');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await until('it has a database', async () => {
    const made = await admin(`select from pg_database where datname ~ '^dieu45_.*_s2'`);
    return made.length > 0;
  });
  child.kill('SIGKILL');
  await expect.poll(inventory, { timeout: 30_000, interval: 100 }).toEqual(before);
});

test('missing rights are named, each with what to type, and nothing is changed', async () => {
  const before = await inventory();
  await expect(open(urlFor('weak'))).rejects.toMatchObject({
    exitCode: 69,
    message: expect.stringMatching(/create databases[^]*create the roles dot_executor/) as string,
    hint: expect.stringContaining('alter role "weak" createdb;') as string,
  });
  expect(await inventory()).toEqual(before);
});

test('roles of ours with members stop it, unless they may be reused, and then stay as they are', async () => {
  await admin('create role dot_executor; create role app; grant dot_executor to app');
  await admin('grant dot_executor to ci with admin option');
  try {
    const before = await inventory();
    await expect(open(urlFor('ci'))).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining('dot_executor (app)') as string,
      hint: expect.stringContaining('--reuse-roles') as string,
    });
    {
      await using server = await open(urlFor('ci'), { reuseRoles: true });
      await server.template('substrate', (session) => installSubstrate(session, join(ROOT, 'sql')));
      await using sandbox = await server.sandbox('substrate');
      await using session = await sandbox.session('executor', 'dot_executor');
      expect(await session.query('select current_user::text as who')).toEqual([
        { who: 'dot_executor' },
      ]);
    }
    expect(await inventory()).toEqual(before);
  } finally {
    await admin('drop role dot_executor; drop role app');
  }
});

test.each([
  ['a wrong password', (): string => urlFor('ci').replace('pass', 'wrong'), /28P01|password/],
  ['a port where nobody is', (): string => urlFor('ci').replace('5432', '1'), /ECONNREFUSED/],
  [
    'a host that does not exist',
    (): string => 'postgres://u@nowhere.invalid/d',
    /nowhere\.invalid/,
  ],
])('%s is told without the password', async (_, url, reason) => {
  const failed: unknown = await open(url()).catch((error: unknown) => error);
  expect(failed).toMatchObject({ exitCode: 69, message: expect.stringMatching(reason) as string });
  expect(String(failed)).not.toMatch(/pass\/|wrong/);
});

test('TLS is used when the server has it, asked for or not, and verified when asked to be', async () => {
  // Without a certificate yet: plain, unless TLS is demanded.
  await (await open(urlFor('plain')))[Symbol.asyncDispose]();
  await expect(open(urlFor('plain', '?sslmode=require'))).rejects.toMatchObject({ exitCode: 69 });

  await admin('alter system set ssl = on');
  await admin('select pg_reload_conf()');
  await until('the server offers TLS', async () => (await admin('show ssl'))[0]?.ssl === 'on');
  for (const more of ['', '?sslmode=prefer', '?sslmode=require']) {
    await using server = await open(urlFor('tls', more));
    await server.template('empty', () => Promise.resolve());
    await using sandbox = await server.sandbox('empty');
    await using session = await sandbox.session('one');
    expect(await session.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).toEqual(
      [{ ssl: true }],
    );
  }
  await (await open(urlFor('plain', '?sslmode=disable')))[Symbol.asyncDispose]();

  const ca = `sslrootcert=${encodeURIComponent(join(folder, 'cert.pem'))}`;
  await (await open(urlFor('tls', `?sslmode=verify-ca&${ca}`)))[Symbol.asyncDispose]();
  // The certificate is localhost's, and this is an address.
  await expect(open(urlFor('tls', `?sslmode=verify-full&${ca}`))).rejects.toMatchObject({
    exitCode: 69,
  });
  await expect(open(urlFor('tls', '?sslmode=verify-full'))).rejects.toMatchObject({ exitCode: 69 });
});

test('PG* variables and ~/.pgpass fill in what the URL leaves out', async () => {
  const target = openTarget('postgres://', {
    env: { PGHOST: address, PGUSER: 'ci', PGPASSWORD: 'pass/ci', PGDATABASE: 'postgres' },
    tmpDir: tmpdir(),
    root: ROOT,
  });
  await (await target.open(new AbortController().signal))[Symbol.asyncDispose]();

  const file = join(folder, 'pgpass');
  await writeFile(file, `${address}:5432:postgres:ci:pass/ci\n`, { mode: 0o600 });
  process.env.PGPASSFILE = file;
  try {
    await using server = await open(`postgres://ci@${address}/postgres`);
    // The line is for that database alone; those that are made need the password too.
    await server.template('empty', () => Promise.resolve());
  } finally {
    delete process.env.PGPASSFILE;
  }
});
