/** Every way in and out of a database, on a real server: nothing lost, nothing left, the same result. */
import { copyFile, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTarget } from '../target/index.ts';
import { openSession } from '../sandbox/session.ts';
import type { Server, Session } from '../types.ts';
import { hashObjects, installSubstrate, uninstallSubstrate } from './index.ts';

const root = join(import.meta.dirname, '../..');
const sqlDir = join(root, 'sql');
const plainFile = join(sqlDir, 'releases/dieu45-2.0-plain.sql');
const ROLES = ['dot_auditor', 'dot_executor', 'dot_producer', 'dot_queue_owner', 'workflow_admin'];

let server: Server;
beforeAll(async () => {
  const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root });
  server = await target.open(new AbortController().signal);
  await server.template('empty', () => Promise.resolve());
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Everything that a database holds beside the system's own, and the cluster's roles: one text a thing. */
async function everything(session: Session): Promise<string[]> {
  const rows = await session.query<{ thing: string }>(
    `
    select 'schema ' || n.nspname as thing from pg_namespace n where n.nspname !~ '^pg_'
    union all
    select c.relkind::text || ' ' || c.oid::regclass::text || ' ' || coalesce(c.relacl::text, '')
      from pg_class c where c.relnamespace not in (select oid from pg_namespace where nspname ~ '^pg_' or nspname = 'information_schema')
    union all
    select 'function ' || p.oid::regprocedure::text
      from pg_proc p where p.pronamespace not in (select oid from pg_namespace where nspname ~ '^pg_' or nspname = 'information_schema')
    union all
    select 'trigger ' || t.tgname from pg_trigger t
    union all
    select 'public ' || coalesce(n.nspacl::text, '') from pg_namespace n where n.nspname = 'public'
    union all
    select 'role ' || r.rolname from pg_roles r where r.rolname = any ($1)
    order by 1`,
    [ROLES],
  );
  return rows.map(({ thing }) => thing);
}

async function emptyDatabase<T>(body: (session: Session) => Promise<T>): Promise<T> {
  await using sandbox = await server.sandbox('empty');
  await using session = await sandbox.session('forms');
  return await body(session);
}

const enqueue = `select fn_job_enqueue('alpha', 'd', 'dot_iu', 'k' || random(), '{}') as answer`;

describe('in this order, since roles belong to the whole server', () => {
  test('the plain form installs without superuser, and what it makes works', async () => {
    await emptyDatabase(async (session) => {
      await session.query(`create role migrator login createrole; grant create, temporary on database
        "${session.client.database ?? ''}" to migrator; grant create, usage on schema public to migrator with grant option`);
      await using migrator = await openSession(
        { ...server.connection(session.client.database ?? ''), user: 'migrator' },
        'migrator',
      );
      await migrator.query(await readFile(plainFile, 'utf8'));
      const [row] = await session.query<{ answer: unknown }>(enqueue);
      expect(row?.answer).toMatchObject({ refused: false, created: true });
      await migrator.query(`set dieu45.purge = 'yes'`);
      await uninstallSubstrate(migrator, sqlDir);
      await session.query('drop owned by migrator; drop role migrator');
    });
  });

  test('uninstalling leaves the database and the roles as they were', async () => {
    await emptyDatabase(async (session) => {
      const before = await everything(session);
      expect(before.filter((thing) => thing.startsWith('role '))).toEqual([]);
      await installSubstrate(session, sqlDir);
      expect((await everything(session)).length).toBeGreaterThan(before.length + 50);
      await uninstallSubstrate(session, sqlDir);
      expect(await everything(session)).toEqual(before);
    });
  });
});

describe('side by side', () => {
  test('a queue in use is not uninstalled, and nothing is lost; told to purge, it goes', async () => {
    await emptyDatabase(async (session) => {
      await installSubstrate(session, sqlDir);
      await session.query(enqueue);
      await expect(uninstallSubstrate(session, sqlDir)).rejects.toThrow(
        /1 jobs, 0 dead letters, 1 audit rows/,
      );
      const [row] = await session.query<{ jobs: string }>('select count(*) as jobs from job_queue');
      expect(row?.jobs).toBe('1');
      await session.query(`set dieu45.purge = 'yes'`);
      await uninstallSubstrate(session, sqlDir);
      const [gone] = await session.query<{ gone: boolean }>(
        `select to_regclass('public.job_queue') is null as gone`,
      );
      expect(gone?.gone).toBe(true);
    });
  });

  test('the three forms make the same queue', async () => {
    const fresh = await emptyDatabase(async (session) => {
      await installSubstrate(session, sqlDir);
      return hashObjects(session);
    });
    const plain = await emptyDatabase(async (session) => {
      await session.query(await readFile(plainFile, 'utf8'));
      return hashObjects(session);
    });
    const extension = await emptyDatabase(async (session) => {
      await copyExtension(session);
      await session.query('create extension dieu45; select public.fn_job_seed()');
      return hashObjects(session);
    });
    expect(fresh.length).toBeGreaterThan(60);
    expect(plain).toEqual(fresh);
    expect(extension).toEqual(fresh);
  });

  test('the extension refuses a host that is there already, and names the way in', async () => {
    await emptyDatabase(async (session) => {
      await copyExtension(session);
      await session.query('create table dot_config (key text primary key, value text not null)');
      await expect(session.query('create extension dieu45')).rejects.toMatchObject({
        code: 'D4501',
        hint: expect.stringContaining('sql/install.sql') as unknown,
      });
    });
  });

  test('a host with more columns than ours works, keeps its rows, and keeps them when we go', async () => {
    await emptyDatabase(async (session) => {
      await session.query(`
        create table dot_config (tenant int default 7, value text not null, key text primary key,
          description text, updated_at timestamptz, updated_by text, note varchar(20) not null default 'x');
        create table event_pending (event_id uuid default gen_random_uuid(), event_domain text, event_type text,
          severity text, payload jsonb, occurred_at timestamptz, error_count int default 0, last_error text,
          partition_key int default 3);
        insert into dot_config (key, value) values ('other.key', '1'), ('queue.other_document.x', 'any');
      `);
      await installSubstrate(session, sqlDir);
      await session.query(enqueue);
      const [kept] = await session.query<{ rows: string }>(
        `select count(*) as rows from dot_config where key not in (select key from v_queue_config)`,
      );
      expect(kept?.rows).toBe('2');
      await session.query(`set dieu45.purge = 'yes'`);
      await uninstallSubstrate(session, sqlDir);
      const [left] = await session.query<{ rows: string }>(
        'select count(*) as rows from dot_config',
      );
      expect(left?.rows).toBe('2');
    });
  });

  test('a host that does not fit gets one error with everything in it, and nothing is left behind', async () => {
    await emptyDatabase(async (session) => {
      await session.query(`
        create table dot_config (key text, value int);
        create table event_pending (event_id bigint, must_be_filled int not null)`);
      const before = await everything(session);
      const error: unknown = await installSubstrate(session, sqlDir).catch(
        (caught: unknown) => caught,
      );
      const message = (error as Error).message;
      for (const part of [
        'dot_config.value is integer, not text',
        'dot_config.description is missing',
        'dot_config.key has no primary key or unique constraint of its own',
        'event_pending.event_id is bigint, not uuid',
        'event_pending.must_be_filled is NOT NULL without a default',
      ]) {
        expect(message).toContain(part);
      }
      expect(await everything(session)).toEqual(before);
    });
  });

  test('databases of one server can be installed at the same time', async () => {
    await Promise.all(
      [1, 2, 3, 4].map(() => emptyDatabase((session) => installSubstrate(session, sqlDir))),
    );
  });
});

/** Puts the extension's files where this server looks for them; the server's files are the run's own. */
async function copyExtension(session: Session): Promise<void> {
  const [row] = await session.query<{ setting: string }>(
    `select setting from pg_config where name = 'SHAREDIR'`,
  );
  const folder = join(row?.setting ?? '', 'extension');
  await copyFile(join(root, 'dieu45.control'), join(folder, 'dieu45.control'));
  await copyFile(join(sqlDir, 'releases/dieu45--2.0.sql'), join(folder, 'dieu45--2.0.sql'));
}
