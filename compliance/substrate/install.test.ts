import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTarget } from '../target/index.ts';
import type { Sandbox, Server, Session } from '../types.ts';
import { hashObjects, installSubstrate, type CatalogObject } from './index.ts';

const ROOT = resolve(import.meta.dirname, '../..');
let server: Server;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'd45-install-'));
  const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root: ROOT });
  server = await target.open(new AbortController().signal);
  await server.template('empty', () => Promise.resolve());
  await server.template('substrate', (session) => installSubstrate(session, join(ROOT, 'sql')));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Installs two files, of which the second is the given text, into an empty database. */
async function installing(
  sql: string,
): Promise<{ sandbox: Sandbox; session: Session; failed: unknown }> {
  const sqlDir = join(await mkdtemp(join(folder, 'x-')), 'sql');
  await mkdir(join(sqlDir, 'functions'), { recursive: true });
  await writeFile(
    join(sqlDir, 'install.sql'),
    'begin;\n\\ir first.sql\n\\ir functions/x.sql\ncommit;\n',
  );
  await writeFile(
    join(sqlDir, 'first.sql'),
    'set search_path = pg_catalog; create table public.t ();',
  );
  await writeFile(join(sqlDir, 'functions/x.sql'), sql);
  const sandbox = await server.sandbox('empty');
  const session = await sandbox.session('install');
  const failed: unknown = await installSubstrate(session, sqlDir).catch((error: unknown) => error);
  return { sandbox, session, failed };
}

describe('installing', () => {
  test.each([
    [
      'a word that is no SQL',
      '-- đây\n\n  selec 1;',
      /^sql\/functions\/x\.sql:3:3: syntax error .*42601/,
    ],
    [
      'a mistake in a function body',
      'create function f() returns int language plpgsql as $$\nbegin\n  retur 1;\nend\n$$;',
      /^sql\/functions\/x\.sql:3:3: .*42601/,
    ],
    [
      'a column that is not there',
      "create view v as\n  select 'ă' as a, nowhere from public.t;",
      /^sql\/functions\/x\.sql:2:20: .*nowhere.*42703/,
    ],
    [
      'an error raised in a block, which has no place of its own',
      "do $$ begin raise exception 'not here' using errcode = 'D4501', detail = 'why'; end $$;",
      /^sql\/functions\/x\.sql:1:1: not here \(D4501\)\nwhy\nPL\/pgSQL function/,
    ],
  ])('%s is shown where it is, and nothing stays', async (_, sql, message) => {
    const { sandbox, session, failed } = await installing(sql);
    expect(failed).toMatchObject({
      exitCode: 70,
      message: expect.stringMatching(message) as string,
    });
    expect(await session.query(`select to_regclass('public.t') as t`)).toEqual([{ t: null }]);
    await sandbox[Symbol.asyncDispose]();
  });

  test('leaves no setting behind', async () => {
    const { sandbox, session, failed } = await installing(
      'create view public.v as select 1 as one;',
    );
    expect(failed).toBeUndefined();
    expect(
      await session.query('select one, current_setting($1) as path from v', ['search_path']),
    ).toEqual([{ one: 1, path: '"$user", public' }]);
    await sandbox[Symbol.asyncDispose]();
  });
});

describe('a snapshot', () => {
  const snapshot = async (change = 'select 1'): Promise<Map<string, CatalogObject>> => {
    await using sandbox = await server.sandbox('substrate');
    await sandbox.plant(change);
    const session = await sandbox.session('snapshot');
    const objects = await hashObjects(session);
    expect(await session.query('show search_path')).toEqual([{ search_path: '"$user", public' }]);
    return new Map(objects.map((one) => [`${one.kind} ${one.name}`, one]));
  };
  let whole: Map<string, CatalogObject>;
  beforeAll(async () => {
    whole = await snapshot();
  });

  test('holds every kind of object, and is the same for the same release', async () => {
    expect(new Set([...whole.values()].map(({ kind }) => kind))).toEqual(
      new Set(['function', 'role', 'schema', 'table', 'view']),
    );
    const names = [...whole.keys()].join('\n');
    for (const name of [
      'fn_job_claim(',
      'fn_dead_letter_health(',
      'table public.job_queue',
      'view public.v_lease_active',
    ]) {
      expect(names).toContain(name);
    }
    expect(await snapshot()).toEqual(whole);
  });

  test.each([
    ['table public.job_queue', 'alter table job_queue alter priority set default 7'],
    ['table public.job_queue', 'alter table job_queue add extra int'],
    ['table public.job_queue', 'create index extra on job_queue (priority)'],
    ['table public.job_queue', 'grant insert on job_queue to public'],
    ['table public.job_queue', 'grant select (payload) on job_queue to dot_auditor'],
    [
      'table public.job_queue',
      'alter table job_queue add constraint extra check (priority < 9) not valid',
    ],
    ['table public.job_queue', 'alter table job_queue alter enqueued_at drop not null'],
    ['table public.job_queue', 'alter table job_queue set (fillfactor = 33)'],
    ['table public.dot_config', 'alter table dot_config disable trigger all'],
    ['schema dot_queue', 'grant usage on schema dot_queue to public'],
    ['view public.v_lease_active', 'alter view v_lease_active owner to postgres'],
  ])('shows a change of %s: %s', async (name, change) => {
    const changed = await snapshot(change);
    expect([...changed.keys()]).toEqual([...whole.keys()]);
    const differing = [...changed.values()].filter(
      (one) => whole.get(`${one.kind} ${one.name}`)?.sha256 !== one.sha256,
    );
    expect(differing.map(({ kind, name }) => `${kind} ${name}`)).toEqual([name]);
  });

  test.each([
    [
      'function public.fn_job_get(text)',
      'create function fn_job_get(text) returns int language sql as $$ select 1 $$',
    ],
    [
      'function dot_queue.extra()',
      'create function dot_queue.extra() returns int language sql as $$ select 1 $$',
    ],
    ['view public.v_job_extra', 'create view v_job_extra as select 1 as one'],
  ])('shows %s, which the release does not have', async (name, change) => {
    const changed = await snapshot(change);
    expect([...changed.keys()].filter((one) => !whole.has(one))).toEqual([name]);
  });

  test('shows a function whose body, search path or rights are others', async () => {
    const seen = new Set([whole.get('function public.fn_job_get(p_job_id uuid)')?.sha256]);
    for (const change of [
      'alter function fn_job_get(uuid) set search_path = public',
      'alter function fn_job_get(uuid) security invoker',
      'alter function fn_job_get(uuid) owner to postgres',
      'grant execute on function fn_job_get(uuid) to public',
    ]) {
      seen.add((await snapshot(change)).get('function public.fn_job_get(p_job_id uuid)')?.sha256);
    }
    expect(seen.size).toBe(5);
  });
});
