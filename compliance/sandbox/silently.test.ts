import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTarget } from '../target/index.ts';
import type { Server, Session } from '../types.ts';
import { shiftWithin } from './shift.ts';
import { plantWithin, plantingSql } from './silently.ts';

let server: Server;
beforeAll(async () => {
  const root = resolve(import.meta.dirname, '../..');
  const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root });
  server = await target.open(new AbortController().signal);
  await server.template('guarded', async (session) => {
    await session.query(`
      create table setting (value text check (value <> ''), changed timestamptz not null);
      create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'guarded'; end $$;
      create trigger guard before update on setting for each row execute function refuse();
      insert into setting values ('good', '2020-01-01 00:00Z');`);
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const valueOf = async (session: Session): Promise<unknown> =>
  (await session.query('select value, changed from setting'))[0];
const BAD = `update setting set value = 'bad'`;

test('planting within a transaction is silent, and the trigger is back afterwards', async () => {
  await using sandbox = await server.sandbox('guarded');
  await using session = await sandbox.session('plants');
  await session.query('begin');
  await plantWithin(session, BAD);
  expect(await valueOf(session)).toMatchObject({ value: 'bad' });
  await expect(session.query(BAD)).rejects.toThrow('guarded');
  await session.query('rollback');
  expect(await valueOf(session)).toMatchObject({ value: 'good' });
});

test('a constraint holds for what is planted, too', async () => {
  await using sandbox = await server.sandbox('guarded');
  await using session = await sandbox.session('plants');
  await session.query('begin');
  await expect(plantWithin(session, `update setting set value = ''`)).rejects.toMatchObject({
    code: '23514',
  });
});

test('planting can be handed on as statements', async () => {
  await using sandbox = await server.sandbox('guarded');
  await using session = await sandbox.session('plants');
  await session.query('begin');
  for (const sql of plantingSql(BAD)) await session.query(sql);
  expect(await valueOf(session)).toMatchObject({ value: 'bad' });
  await expect(session.query(BAD)).rejects.toThrow('guarded');
});

test('time travel within a transaction is undone with it, and wakes no trigger', async () => {
  await using sandbox = await server.sandbox('guarded');
  await using session = await sandbox.session('travels');
  await session.query('begin');
  await shiftWithin(session, 1.5);
  expect(await valueOf(session)).toMatchObject({ changed: new Date('2019-12-31T23:59:58.500Z') });
  await expect(session.query(BAD)).rejects.toThrow('guarded');
  await session.query('rollback');
  expect(await valueOf(session)).toMatchObject({ changed: new Date('2020-01-01T00:00:00Z') });
  await expect(shiftWithin(session, Number.NaN)).rejects.toThrow('nobody can travel NaN seconds');
});
