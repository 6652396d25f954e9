import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeServer } from '../sandbox/server.ts';
import { openSession } from '../sandbox/session.ts';
import type { Server, Session } from '../types.ts';
import { openCluster, type Cluster } from './cluster.ts';
import { installPgtap } from './pgtap.ts';
import { options, ROOT } from './testing.ts';

let cluster: Cluster;
let server: Server;

beforeAll(async () => {
  cluster = await openCluster(options());
  server = await makeServer({
    can: new Set(),
    connection: (database) => cluster.connection(database),
    url: (database) => cluster.url(database),
    maintenance: 'postgres',
    dropDatabases: false,
    close: async () => {
      await cluster[Symbol.asyncDispose]();
    },
  });
  await server.template('empty', async (session) => {
    await session.query(
      'create role plain login; create role nobody_special; grant nobody_special to plain',
    );
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** A suite as people write it, by a role that has nothing. */
async function suite(session: Session): Promise<unknown[]> {
  await session.query('begin; set local role nobody_special; set local search_path = public, tap');
  const lines = [];
  for (const call of [
    'plan(2)',
    `is(1, 1, 'same')`,
    `throws_ok('select 1/0', '22012')`,
    'finish()',
  ]) {
    const rows = await session.query<{ line: string }>(`select ${call} as line`);
    lines.push(...rows.map(({ line }) => line.split('\n')[0]));
  }
  await session.query('rollback');
  return lines;
}
const TAP = ['1..2', 'ok 1 - same', 'ok 2 - threw 22012'];

test('a plain user gets pgTAP from the SQL that the kit carries, out of public', async () => {
  await using sandbox = await server.sandbox('empty');
  await sandbox.plant(`grant create on database ${sandbox.database} to plain`);
  await using session = await openSession(
    { ...cluster.connection(sandbox.database), user: 'plain' },
    'plain',
  );
  const began = performance.now();
  expect(await installPgtap(session)).toBe('sql');
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(await suite(session)).toEqual(TAP);
  expect(
    await session.query(`select from pg_proc where pronamespace = 'public'::regnamespace`),
  ).toEqual([]);
});

test("the server's own extension is taken when it has one", async () => {
  const extensions = join(cluster.bin, '../share/postgresql/extension');
  await copyFile(join(ROOT, 'dist/pgtap/pgtap.sql'), join(extensions, 'pgtap--1.3.5.sql'));
  await writeFile(
    join(extensions, 'pgtap.control'),
    `default_version = '1.3.5'\nrelocatable = true\n`,
  );
  await using sandbox = await server.sandbox('empty');
  const session = await sandbox.session('one');
  expect(await installPgtap(session)).toBe('extension');
  expect(await suite(session)).toEqual(TAP);
  expect(
    await session.query(
      `select extversion::text as version from pg_extension where extname = 'pgtap'`,
    ),
  ).toEqual([{ version: '1.3.5' }]);
});
