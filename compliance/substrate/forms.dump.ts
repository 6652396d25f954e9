/** Dump and restore of each form, with PostgreSQL's own programs: no job, setting or host row is lost. */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTarget } from '../target/index.ts';
import type { Sandbox, Server, Session } from '../types.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const ROWS = [
  'public.job_queue',
  'public.job_dead_letter',
  'public.job_executor',
  'public.job_sweep',
  'public.dot_config',
  'public.event_pending',
  'public.dot_iu_command_run',
  'public.dot_iu_runtime_lease',
  'dot_queue.release',
];

let server: Server;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dieu45-dump-'));
  const { stdout } = await run('pg_dump', ['--version']);
  const major = /(\d+)\./.exec(stdout)?.[1] ?? '';
  const options = { env, tmpDir: tmpdir(), root };
  server = await openTarget(`embedded:${major}`, options).open(new AbortController().signal);
  await server.template('empty', () => Promise.resolve());
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function psql(sandbox: Sandbox, ...args: string[]): Promise<void> {
  await run('psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', sandbox.url, ...args]);
}

/** A job in every state that a caller can make, a changed setting, an executor, a triaged dead letter. */
async function live(session: Session): Promise<void> {
  await session.query(`
    do $$
    declare
      v_claim record;
    begin
      for i in 1..5 loop
        perform fn_job_enqueue('alpha', 'd', 'dot_iu', 'k' || i, jsonb_build_object('ref', i), 5 - i);
      end loop;
      perform fn_job_enqueue('alpha', 'd', 'dot_iu', 'later', '{}', 0, clock_timestamp() + interval '1 day');
      select * into v_claim from fn_job_claim('{alpha}', null, 'w');
      perform fn_job_succeed(v_claim.job_id, v_claim.lease_token);
      select * into v_claim from fn_job_claim('{alpha}', null, 'w');
      perform fn_job_fail_permanent(v_claim.job_id, v_claim.lease_token, 'bad', 'năm mươi');
      select * into v_claim from fn_job_claim('{alpha}', null, 'w');
      perform fn_job_fail_transient(v_claim.job_id, v_claim.lease_token, 'slow', null);
      select * into v_claim from fn_job_claim('{alpha}', null, 'w');
      perform fn_job_progress(v_claim.job_id, v_claim.lease_token);
      perform fn_job_dead_letter_triage_update(d.dead_letter_id, 'escalated', 'me') from job_dead_letter d;
      perform fn_job_config_set('queue.lease.ttl_seconds.default', '900');
      perform fn_job_config_set('queue.lease_reaper.cadence_seconds', '400');
      perform fn_job_config_set('queue.retry.max_attempts.alpha', '7');
      perform fn_job_executor_set('another', 'alpha', true);
      perform fn_job_lease_reaper();
    end
    $$`);
  await session.query(`insert into dot_config (key, value) values ('host.own', 'kept')`);
}

async function rowsOf(session: Session): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const table of ROWS) {
    const [row] = await session.query<{ rows: string }>(
      `select count(*) || ' rows, ' || md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as rows from ${table} t`,
    );
    found[table] = row?.rows ?? '';
  }
  return found;
}

const forms: [string, (sandbox: Sandbox) => Promise<void>][] = [
  ['sql/install.sql by psql', (sandbox) => psql(sandbox, '-f', join(root, 'sql/install.sql'))],
  [
    'the plain migration',
    (sandbox) => psql(sandbox, '-f', join(root, 'sql/releases/dieu45-2.0-plain.sql')),
  ],
  [
    'the extension',
    async (sandbox) => {
      await using session = await sandbox.session('files');
      const [row] = await session.query<{ setting: string }>(
        `select setting from pg_config where name = 'SHAREDIR'`,
      );
      const share = join(row?.setting ?? '', 'extension');
      await copyFile(join(root, 'dieu45.control'), join(share, 'dieu45.control'));
      await copyFile(join(root, 'sql/releases/dieu45--2.0.sql'), join(share, 'dieu45--2.0.sql'));
      await psql(sandbox, '-c', 'create extension dieu45', '-c', 'select public.fn_job_seed()');
    },
  ],
];

test.each(forms)('%s survives dump and restore with every row', async (name, install) => {
  await using sandbox = await server.sandbox('empty');
  await install(sandbox);
  await using session = await sandbox.session('before');
  await live(session);
  const before = await rowsOf(session);
  expect(before['public.job_queue']).toMatch(/^6 rows/);

  const dump = join(folder, `${name.replace(/\W+/g, '-')}.sql`);
  await run('pg_dump', ['-d', sandbox.url, '-f', dump]);
  await using restored = await server.sandbox('empty');
  await psql(restored, '-f', dump);
  await using after = await restored.session('after');
  expect(await rowsOf(after)).toEqual(before);

  // And it goes on: new identities do not collide, the guard still guards, nothing is seeded twice.
  await after.query(`select fn_job_enqueue('alpha', 'd', 'dot_iu', 'new', '{}')`);
  await after.query('select fn_job_lease_reaper()');
  const [row] = await after.query<{ seeded: { inserted: number } }>(
    'select fn_job_seed() as seeded',
  );
  expect(row?.seeded.inserted).toBe(0);
  await expect(
    after.query(
      `update dot_config set value = '5 min' where key = 'queue.lease.ttl_seconds.default'`,
    ),
  ).rejects.toMatchObject({ code: 'D4500' });
});

test('psql runs uninstall.sql as the page says', async () => {
  await using sandbox = await server.sandbox('empty');
  await psql(sandbox, '-f', join(root, 'sql/install.sql'));
  await psql(sandbox, '-f', join(root, 'sql/uninstall.sql'));
});
