import { afterAll, beforeAll, expect, test } from 'vitest';
import { CoverageError } from '../../errors.ts';
import { readSource } from '../../manifest/source.ts';
import type { Server } from '../../types.ts';
import { run } from './index.ts';
import { sourceOf } from './load.ts';
import { pairsOf, recipesFor, recipesOf, writingFunctions } from './pairs.ts';
import { installQueue, openServer, ROOT, runCheck } from './testing.ts';

const PAIRS = 'selftest/races/pairs.yaml';

let server: Server;
beforeAll(async () => {
  server = await openServer();
  await server.template('queue', installQueue);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

test('every function that writes has a recipe, and every pair of them a scenario', async () => {
  await using sandbox = await server.sandbox('queue');
  await using session = await sandbox.session('reader');
  const functions = await writingFunctions(session);
  const recipes = recipesOf(await sourceOf(PAIRS, ROOT));
  const scenarios = pairsOf(recipesFor(functions, recipes, PAIRS), recipes);
  const pairs = new Set(scenarios.map((one) => one.case.replace(/ on a job that is .*/, '')));
  expect(pairs.size).toBe((functions.length * (functions.length + 1)) / 2);
});

test('a function without a recipe is a gap in coverage on the day it is added', async () => {
  await using sandbox = await server.sandbox('queue');
  await sandbox.plant(`create function public.fn_job_cancel(uuid) returns jsonb language sql volatile as
    $$ update public.job_queue set status = 'cleaned' where job_id = $1 returning '{}'::jsonb $$`);
  const running = runCheck(run, PAIRS, sandbox);
  await expect(running).rejects.toThrow(CoverageError);
  await expect(running).rejects.toThrow(/no recipe for fn_job_cancel; add how to call it/);
});

test('a database without any such function proves nothing', () => {
  const recipes = recipesOf(readSource(FILE, 'pairs.yaml'));
  expect(() => recipesFor([], recipes, 'pairs.yaml')).toThrow(CoverageError);
});

const FILE = `
title: two calls
endings: [commit, rollback]
fixtures:
  new: [{ sql: select 1 as id, capture: { job: id } }]
  old: [{ sql: select 2 as id, capture: { job: id, token: id } }]
recipes:
  fn_job_a: { on: [new], call: 'select :job' }
  fn_job_b: { on: [new, old], call: 'select :token' }
`;

test('a pair runs on the states of both, and both ways round where one is undone', () => {
  const recipes = recipesOf(readSource(FILE, 'pairs.yaml'));
  const scenarios = pairsOf(recipesFor(['fn_job_a', 'fn_job_b'], recipes, 'pairs.yaml'), recipes);
  const listed = scenarios.map(
    ({ case: name, sessions }) => `${name}: ${sessions.map((s) => s.transaction).join(' ')}`,
  );
  expect(listed).toEqual([
    'fn_job_a × fn_job_a on a job that is new: commit commit',
    'fn_job_a × fn_job_a on a job that is new: rollback commit',
    'fn_job_a × fn_job_b on a job that is new: commit commit',
    'fn_job_a × fn_job_b on a job that is new: rollback commit',
    'fn_job_b × fn_job_a on a job that is new: rollback commit',
    'fn_job_b × fn_job_b on a job that is new: commit commit',
    'fn_job_b × fn_job_b on a job that is new: rollback commit',
    'fn_job_a × fn_job_b on a job that is old: commit commit',
    'fn_job_a × fn_job_b on a job that is old: rollback commit',
    'fn_job_b × fn_job_a on a job that is old: rollback commit',
    'fn_job_b × fn_job_b on a job that is old: commit commit',
    'fn_job_b × fn_job_b on a job that is old: rollback commit',
  ]);
});

test('mistakes in the recipes are said at their places', () => {
  const wrong = FILE.replace('[new, old]', '[new, ready]').replace(':token', ':tokne');
  expect(() => recipesOf(readSource(wrong, 'pairs.yaml'))).toThrow(
    'pairs.yaml:9:19: unknown fixture "ready"\n' +
      'pairs.yaml:9:39: no fixture captures :tokne; did you mean token?',
  );
});
