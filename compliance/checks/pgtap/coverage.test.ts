import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readManifest } from '../../manifest/load.ts';
import type { CheckSpec, Server } from '../../types.ts';
import { openQueueServer, ROOT } from '../testing.ts';
import { clauseOf } from './index.ts';
import { readScript } from './script.ts';
import { runSuite, type SuiteRun } from './suite.ts';

/**
 * A description that no check of the manifest asks for is left aside when a suite runs, so that
 * `--only` can work. This test is what keeps a suite's assertions from being left aside for ever.
 */
const FOLDER = 'selftest/pgtap';
const files = (await readdir(path.join(ROOT, FOLDER)))
  .filter((name) => name.endsWith('.sql'))
  .map((name) => `${FOLDER}/${name}`);

let server: Server;
let specs: readonly CheckSpec[];
const runs = new Map<string, Promise<SuiteRun>>();
beforeAll(async () => {
  const manifest = await readManifest(path.join(ROOT, 'selftest/dieu45.yaml'));
  specs = manifest.clauses
    .flatMap(({ checks }) => checks)
    .filter(({ kind, planned }) => kind === 'pgtap' && planned === undefined);
  server = await openQueueServer();
});
afterAll(async () => {
  await Promise.allSettled(runs.values());
  await server[Symbol.asyncDispose]();
});

async function runOnce(file: string): Promise<SuiteRun> {
  await using sandbox = await server.sandbox('queue');
  await using session = await sandbox.session('suite');
  const steps = await readScript(file, ROOT);
  return await runSuite(session.client, steps, { signal: new AbortController().signal });
}

/** `s8.3 43`, one for each clause, sorted. */
function counted(clauses: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const clause of clauses) counts.set(clause, (counts.get(clause) ?? 0) + 1);
  return [...counts].map(([clause, count]) => `${clause} ${count}`).sort();
}

test.concurrent.each(files)(
  '%s makes, for each of its clauses, as many assertions as a check expects',
  async (file) => {
    const run = runOnce(file);
    runs.set(file, run);
    const { report, stopped } = await run;
    expect(stopped).toBeUndefined();
    expect(report.problems).toEqual([]);
    const made = counted(report.tests.map(({ name }) => clauseOf(name) ?? `no clause: ${name}`));
    const listed = specs.filter((spec) => spec.file === file);
    expect(listed.map(({ clause, expects }) => `${clause} ${expects}`).sort()).toEqual(made);
  },
);

test('every suite that the manifest names is there, and no suite is left out', () => {
  expect([...new Set(specs.map(({ file }) => file))].sort()).toEqual(files.sort());
});

/**
 * Suites that need transactions of their own: one runs the release's own scripts, which open and commit
 * them; one asks whether a transaction of a caller's got an id, which pgTAP's own writes would give it.
 */
const COMMITS = new Set([`${FOLDER}/uninstall.sql`, `${FOLDER}/dry_run.sql`]);

test('each suite is one transaction with a real plan, ended by a rollback', async () => {
  for (const file of files.filter((name) => !COMMITS.has(name))) {
    const steps = await readScript(file, ROOT);
    const sql = steps.flatMap((step) => (step.is === 'sql' ? [step.sql] : []));
    expect({ file, first: sql[0]?.split(' ')[0], last: sql.at(-1) }).toEqual({
      file,
      first: 'begin',
      last: 'rollback',
    });
    expect({ file, plans: sql.filter((text) => /^select plan\(\d+\)$/.test(text)).length }).toEqual(
      { file, plans: 1 },
    );
    expect({ file, ends: sql.filter((text) => /^(commit|end)\b/i.test(text)) }).toEqual({
      file,
      ends: [],
    });
    expect(await readFile(path.join(ROOT, file), 'utf8')).not.toMatch(
      /no_plan|pg_sleep|todo\(|skip\(/,
    );
  }
});
