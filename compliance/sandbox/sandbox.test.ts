import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTarget } from '../target/index.ts';
import { openSession } from './session.ts';
import type { Sandbox, Server } from '../types.ts';

let server: Server;
let builds = 0;

beforeAll(async () => {
  const root = resolve(import.meta.dirname, '../..');
  const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root });
  server = await target.open(new AbortController().signal);
  await server.template('plain', async (session) => {
    builds += 1;
    await session.query(`
      create table a (
        id int primary key,
        born timestamptz not null,
        dies timestamptz not null check (dies > born),
        day date not null default '2000-01-01',
        until timestamptz default 'infinity'
      );
      create schema dot_queue;
      create table dot_queue."B c" ("At" timestamptz);
      create table fired (at int);
      create function fire() returns trigger language plpgsql as
        $$ begin insert into public.fired values (1); return new; end $$;
      create trigger fire before update on a for each row execute function fire();
      insert into a values (1, '2020-01-01 00:00Z', '2020-01-01 00:00:01Z');
      insert into dot_queue."B c" values ('2020-01-01 00:00Z'), (null);
      do $$ begin create role sandbox_reader; exception when duplicate_object then null; end $$;
      grant select on a to sandbox_reader;`);
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function backends({ database }: Sandbox): Promise<number> {
  const client = new pg.Client(server.connection('postgres'));
  await client.connect();
  try {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [database],
    );
    return rowCount ?? -1;
  } finally {
    await client.end();
  }
}

test('a session carries its name, its pid and its role', async () => {
  await using sandbox = await server.sandbox('plain');
  const session = await sandbox.session('reader', 'sandbox_reader');
  const [row] = await session.query(
    `select current_setting('application_name') as name, pg_backend_pid() as pid,
       current_user::text as role, current_database()::text as database`,
  );
  expect(row).toEqual({
    name: 'reader',
    pid: session.pid,
    role: 'sandbox_reader',
    database: sandbox.database,
  });
  await expect(session.query('delete from a')).rejects.toMatchObject({ code: '42501' });
  expect(await session.query('select id from a where id = $1', [1])).toEqual([{ id: 1 }]);
});

test('several statements give the rows of the last one', async () => {
  await using sandbox = await server.sandbox('plain');
  const session = await sandbox.session('one');
  expect(await session.query('select 1 as x; select 2 as y')).toEqual([{ y: 2 }]);
});

test('a role that does not exist leaves no connection behind', async () => {
  await using sandbox = await server.sandbox('plain');
  await expect(sandbox.session('x', 'no "such" role')).rejects.toMatchObject({ code: '22023' });
  await expect.poll(() => backends(sandbox)).toBe(0);
});

test('a server that takes no further connection is told apart, with what to type', async () => {
  await using sandbox = await server.sandbox('plain');
  await sandbox.plant('create role limited login connection limit 0');
  const settings = { ...server.connection(sandbox.database), user: 'limited' };
  await expect(openSession(settings, 'one')).rejects.toMatchObject({
    exitCode: 69,
    hint: expect.stringContaining('--jobs') as string,
  });
});

test('a worker process can connect by the URL', async () => {
  await using sandbox = await server.sandbox('plain');
  const client = new pg.Client(sandbox.url);
  await client.connect();
  const { rows } = await client.query('select current_database()::text as name');
  await client.end();
  expect(rows).toEqual([{ name: sandbox.database }]);
});

test('sandboxes are made side by side, and what is planted in one is not in another', async () => {
  const sandboxes = await Promise.all(Array.from({ length: 6 }, () => server.sandbox('plain')));
  expect(new Set(sandboxes.map(({ database }) => database)).size).toBe(6);
  await sandboxes[0]?.plant('drop table a');
  const seen = await Promise.all(
    sandboxes.map(async (sandbox) => {
      const session = await sandbox.session('look');
      const [row] = await session.query(`select to_regclass('a')::text as a`);
      return row?.a;
    }),
  );
  expect(seen).toEqual([null, 'a', 'a', 'a', 'a', 'a']);
  await Promise.all(sandboxes.map((sandbox) => sandbox[Symbol.asyncDispose]()));
});

test('time travel moves every timestamp of every table, in order, and fires no trigger', async () => {
  await using sandbox = await server.sandbox('plain');
  const session = await sandbox.session('look');
  await sandbox.shift(3600.5);
  expect(await session.query(`select born, dies, day::text, until::text from a`)).toEqual([
    {
      born: new Date('2019-12-31T22:59:59.500Z'),
      dies: new Date('2019-12-31T23:00:00.500Z'),
      day: '2000-01-01',
      until: 'infinity',
    },
  ]);
  expect(await session.query(`select "At" from dot_queue."B c" order by 1`)).toEqual([
    { At: new Date('2019-12-31T22:59:59.500Z') },
    { At: null },
  ]);
  expect(await session.query('select from fired')).toEqual([]);
  await session.query('update a set id = 2');
  expect(await session.query('select from fired')).toHaveLength(1);
});

test('time travel does not wait for ever for a row that somebody holds, and moves nothing then', async () => {
  await using sandbox = await server.sandbox('plain');
  const holder = await sandbox.session('holder');
  await holder.query('begin; select from a for update');
  await expect(sandbox.shift(1)).rejects.toMatchObject({ code: '55P03' });
  await holder.query('rollback');
  expect(await holder.query(`select from dot_queue."B c" where "At" < '2020-01-01Z'`)).toEqual([]);
  await sandbox.shift(1);
  expect(await holder.query(`select from dot_queue."B c" where "At" < '2020-01-01Z'`)).toHaveLength(
    1,
  );
});

test('closing ends a backend that loops or waits, and a closed sandbox opens nothing', async () => {
  const sandbox = await server.sandbox('plain');
  const [holder, waiter, looper] = await Promise.all(
    ['holder', 'waiter', 'looper'].map((name) => sandbox.session(name)),
  );
  await holder?.query('begin; lock table a');
  const waits = waiter?.query('select from a');
  const loops = looper?.query('do $$ begin loop null; end loop; end $$');
  const ends = Promise.allSettled([waits, loops]);
  await sandbox[Symbol.asyncDispose]();
  expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect.poll(() => backends(sandbox)).toBe(0);
  await expect(sandbox.session('late')).rejects.toThrow(/closed/);
  await sandbox[Symbol.asyncDispose]();
});

test('planting goes on after its backend was terminated', async () => {
  await using sandbox = await server.sandbox('plain');
  await sandbox.plant('select 1');
  const other = await sandbox.session('other');
  await other.query(
    `select pg_terminate_backend(pid, 1000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await expect
    .poll(() =>
      sandbox.plant('create table if not exists again ()').then(
        () => 'planted',
        () => 'not yet',
      ),
    )
    .toBe('planted');
});

test('a template is built once, however often it is asked for', async () => {
  const build = async (): Promise<void> => {
    builds += 100;
    await Promise.resolve();
  };
  await Promise.all([server.template('plain', build), server.template('plain', build)]);
  expect(builds).toBe(1);
});

test('a template whose build fails can be built again', async () => {
  const failing = server.template('broken', async (session) => {
    await session.query('create table half ()');
    await session.query('select 1/0');
  });
  await expect(failing).rejects.toMatchObject({ code: '22012' });
  await server.template('broken', async (session) => {
    await session.query('create table whole ()');
  });
  await using sandbox = await server.sandbox('broken');
  const session = await sandbox.session('look');
  expect(
    await session.query(`select to_regclass('half') as half, to_regclass('whole')::text as whole`),
  ).toEqual([{ half: null, whole: 'whole' }]);
});

test('a template that nobody built is named', async () => {
  await expect(server.sandbox('nowhere')).rejects.toThrow(/no template "nowhere"/);
});
