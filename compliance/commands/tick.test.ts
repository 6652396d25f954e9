import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installSubstrate } from '../substrate/index.ts';
import { openTarget } from '../target/index.ts';
import type { Sandbox, Server, Session } from '../types.ts';
import { recordingIo } from './recording.ts';
import { tick } from './tick.ts';

const root = join(import.meta.dirname, '../..');
let server: Server;
let sandbox: Sandbox;
let session: Session;

beforeAll(async () => {
  const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root });
  server = await target.open(new AbortController().signal);
  await server.template('tick', (one) => installSubstrate(one, join(root, 'sql')));
  sandbox = await server.sandbox('tick');
  session = await sandbox.session('tick test');
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function abandonJobs(count: number): Promise<void> {
  await session.query(
    `select fn_job_enqueue('alpha', 'd', 'dot_iu', 'k' || random(), '{}') from generate_series(1, $1)`,
    [count],
  );
  await session.query(`select fn_job_claim_batch('{alpha}', null, 'gone', 1, $1)`, [count]);
  await sandbox.shift(10);
}

test('a sweep goes on until nothing is left, and says what it did', async () => {
  await abandonJobs(5);
  const { io, out } = recordingIo({ root });
  expect(await tick({ target: sandbox.url, limit: 2 }, io)).toBe(0);
  expect(out()).toContain('reaped 5 (0 dead)');
  await sandbox.shift(60);
  const again = recordingIo({ root });
  expect(await tick({ target: sandbox.url, limit: 2 }, again.io)).toBe(0);
  expect(again.out()).toContain('reaped 0 (0 dead) · promoted 5');
});

test('a job that cannot be reaped is named, and the exit code tells cron', async () => {
  await abandonJobs(2);
  await sandbox.plant(`
    create function poison() returns trigger language plpgsql as $$
    begin
      if old.status = 'leased' and old.job_id = (select min(job_id::text)::uuid from public.job_queue where status = 'leased') then
        raise exception 'no';
      end if;
      return new;
    end $$;
    create trigger poison before update on job_queue for each row execute function poison()`);
  const { io, out, err } = recordingIo({ root });
  expect(await tick({ target: sandbox.url, limit: 100 }, io)).toBe(1);
  expect(out()).toContain('reaped 1');
  expect(err()).toMatch(/job [0-9a-f-]{36} could not be reaped: SQLSTATE P0001/);
  await sandbox.plant('drop trigger poison on job_queue');
});

test('a refusal is an exit code of its own, with the code that was refused', async () => {
  await session.query(`select fn_job_config_set('queue.lease_reaper.enabled', 'false')`);
  const { io, err } = recordingIo({ root });
  expect(await tick({ target: sandbox.url, limit: 100 }, io)).toBe(1);
  expect(err()).toContain('fn_job_lease_reaper: reaper_disabled');
  await session.query(`select fn_job_config_set('queue.lease_reaper.enabled', 'true')`);
});

test('a database without the queue is a target that cannot be used, with what to type', async () => {
  await server.template('empty', () => Promise.resolve());
  await using empty = await server.sandbox('empty');
  const { io } = recordingIo({ root });
  await expect(tick({ target: empty.url, limit: 100 }, io)).rejects.toMatchObject({
    exitCode: 69,
    hint: expect.stringContaining('sql/install.sql') as unknown,
  });
});
