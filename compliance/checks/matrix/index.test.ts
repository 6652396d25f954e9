/** How a matrix ends when it cannot be run as it should. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KitError } from '../../errors.ts';
import type { Server } from '../../types.ts';
import { openQueueServer, outcome, spec, told } from '../testing.ts';
import { run } from './index.ts';

let server: Server;
let folder: string;
beforeAll(async () => {
  server = await openQueueServer();
  folder = await mkdtemp(join(tmpdir(), 'dieu45-test-'));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const files = [
  ['selftest/matrix/states-by-functions.yaml', 's6.7'],
  ['selftest/matrix/first-reason-wins.yaml', 's6.7'],
  ['selftest/matrix/zombie-calls.yaml', 's7'],
  ['selftest/matrix/maximum-by-path.yaml', 's8.1'],
  ['selftest/privileges.yaml', 's11.5'],
  ['selftest/matrix/gaps.yaml', 's15.5'],
  ['selftest/matrix/flags-by-functions.yaml', 'dp3.7'],
  ['selftest/matrix/health.yaml', 'dp3.8'],
] as const;

test.each(files)('%s fails, and does not break, on an empty database', async (file, clause) => {
  await using sandbox = await server.sandbox('empty');
  expect(outcome(await told(run, sandbox, [spec('matrix', file, clause)]))).toBe('failed');
});

test('a raw error out of a function of the queue is a finding', async () => {
  await using sandbox = await server.sandbox('queue');
  await sandbox.plant(`
    create or replace function dot_queue.mirror_drop(p_job_ids uuid[]) returns void
    language plpgsql set search_path = pg_catalog, pg_temp as
    $$ begin raise exception 'planted'; end $$`);
  const { seen, threw } = await told(run, sandbox, [
    spec('matrix', 'selftest/matrix/maximum-by-path.yaml', 's8.1'),
  ]);
  expect(threw).toBeUndefined();
  expect(seen).toContainEqual(
    expect.objectContaining({
      is: 'assertion',
      ok: false,
      name: 'dot_queue.mirror_drop raises no raw error',
      seen: 'planted (SQLSTATE P0001)',
    }),
  );
});

async function toldOf(text: string): Promise<{ threw: unknown }> {
  await writeFile(join(folder, 'test.yaml'), text);
  await using sandbox = await server.sandbox('empty');
  return await told(run, sandbox, [spec('matrix', 'test.yaml', 's6.7')], folder);
}

test('a file that speaks for another clause proves nothing', async () => {
  const { threw } = await toldOf('{ matrix: runs, clause: s8.1 }');
  expect(threw).toMatchObject({
    name: 'CoverageError',
    message: 'test.yaml speaks for s8.1, and no such check asked for it',
  });
});

test('mistakes in a file are told at their places', async () => {
  const mistaken = await toldOf('{ matrix: leese_calls, clause: s6.7 }');
  expect(mistaken.threw).toBeInstanceOf(KitError);
  expect(mistaken.threw).toMatchObject({
    exitCode: 65,
    message: expect.stringMatching(/^test\.yaml:1:11: .*did you mean lease_calls\?/) as string,
  });
  const unknown = await toldOf(
    'matrix: lease_calls\nclause: s6.7\ntitle: x\nanswers: y\ntokens: [missing]\njobs: {}\njob: {}\n',
  );
  expect(unknown.threw).toMatchObject({
    message: expect.stringMatching(
      /^test\.yaml:7:1: unknown key "job"; did you mean jobs\?/,
    ) as string,
  });
});
