/** The plan kind seen red: each fault planted, and the call that it slows named. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readFile } from 'node:fs/promises';
import { installSubstrate } from '../../substrate/index.ts';
import { openTarget } from '../../target/index.ts';
import type { Observation, Server, Task } from '../../types.ts';
import { spec } from '../testing.ts';
import { run } from './index.ts';

const root = join(import.meta.dirname, '../../..');
let server: Server;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dieu45-plan-'));
  const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root });
  server = await target.open(new AbortController().signal);
  await server.template('plan', (session) => installSubstrate(session, join(root, 'sql')));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a plan file on fewer rows, with a fault planted; the names of what failed. */
async function failures(proves: 'buffers' | 'scans', fault: string): Promise<string[]> {
  const text = await readFile(join(root, 'selftest/plan/cost.yaml'), 'utf8');
  const file = join(folder, 'cost.yaml');
  await writeFile(file, stringify({ ...(parse(text) as object), rows: 4000, small: 200 }));
  await using sandbox = await server.sandbox('plan');
  await sandbox.plant(fault);
  const seen: Observation[] = [];
  const task: Task = {
    kind: 'plan',
    file,
    specs: [{ ...spec('plan', file, 'dp3.5'), params: { proves } }],
  };
  const given = {
    seed: 1,
    exhaustive: true,
    signal: new AbortController().signal,
    root,
    scratch: folder,
    progress: () => undefined,
  };
  for await (const one of run(task, sandbox, given)) seen.push(one);
  expect(seen.filter((one) => one.is === 'assertion').length).toBeGreaterThan(3);
  return seen.flatMap((one) => (one.is === 'assertion' && !one.ok ? [one.name] : []));
}

test('without the claim index, claims cost what the volume costs', async () => {
  expect(await failures('buffers', 'drop index job_queue_claim_idx')).toContain(
    'dp3.5: a claim of one kind touches as many buffers beside the volume as beside few rows',
  );
});

test('without the due index, the promoter and the claim scan the queue', async () => {
  const failed = await failures('scans', 'drop index job_queue_due_idx');
  expect(failed.some((name) => name.includes('fn_job_promote_due'))).toBe(true);
  expect(failed.some((name) => name.includes('fn_job_claim,'))).toBe(true);
});

test.each([
  ['job_queue_lease_idx', 'fn_job_lease_reaper,'],
  ['job_queue_finished_key_idx', 'fn_job_enqueue,'],
])('without %s, %s scans the queue', async (index, called) => {
  const failed = await failures('scans', `drop index ${index}`);
  expect(failed.some((name) => name.includes(called))).toBe(true);
});

test('an index that is not valid, and a function that nobody calls, are found', async () => {
  const failed = await failures(
    'scans',
    `update pg_catalog.pg_index set indisvalid = false where indexrelid = 'public.job_queue_dead_idx'::regclass;
     create function public.fn_job_new() returns jsonb language sql as $$ select '{}'::jsonb $$`,
  );
  expect(failed).toEqual([
    'dp3.5: every public function is called',
    'dp3.5: every index of public.job_queue is valid',
  ]);
});

test('as it is, nothing fails', async () => {
  expect(await failures('scans', 'select 1')).toEqual([]);
});
