import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CoverageError } from '../../errors.ts';
import { readManifest } from '../../manifest/load.ts';
import type { Sandbox, Server } from '../../types.ts';
import { openQueueServer, outcome, ROOT, spec, told, type Told } from '../testing.ts';
import { breaks } from './testing_breaks.ts';
import { run } from './index.ts';

let server: Server;
let root = '';
beforeAll(async () => {
  server = await openQueueServer();
  root = await mkdtemp(path.join(tmpdir(), 'dieu45-rules-'));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

const FOLDER = 'selftest/catalog';
const rules = (await readdir(path.join(ROOT, FOLDER))).filter((name) => name.endsWith('.sql'));

async function ask(sandbox: Sandbox, rule: string): Promise<Told> {
  return told(run, sandbox, [spec('catalog', `${FOLDER}/${rule}`, 's1')]);
}

/** Runs a rule of our own making. */
async function askText(sandbox: Sandbox, text: string): Promise<Told> {
  await writeFile(path.join(root, 'rule.sql'), text);
  return told(run, sandbox, [spec('catalog', 'rule.sql', 's1')], root);
}

test('every rule is green on the queue, and says how much it looked at', async () => {
  await using sandbox = await server.sandbox('queue');
  for (const rule of rules) {
    const { seen, threw } = await ask(sandbox, rule);
    expect({ rule, seen, threw }).toMatchObject({
      seen: [
        { is: 'count', name: 'looked_at' },
        { is: 'assertion', ok: true },
      ],
      threw: undefined,
    });
  }
});

test('every rule fails on an empty database; none is green, none breaks', async () => {
  await using sandbox = await server.sandbox('empty');
  // Roles are the cluster's, so they are there when another database has the queue.
  for (const rule of rules.filter((name) => name !== 'roles_are_plain.sql')) {
    expect(`${rule} ${outcome(await ask(sandbox, rule))}`).toBe(`${rule} failed`);
  }
});

test.each(breaks)('$rule sees $what', async ({ rule, sql, mend }) => {
  await using sandbox = await server.sandbox('queue');
  try {
    // A rule over the data sets its own stage first: what is broken here is broken after that.
    if (rule === 'audit_chain') await ask(sandbox, `${rule}.sql`);
    await using session = await sandbox.session('breaks the queue');
    await session.query('set allow_system_table_mods = on');
    await session.query(sql);
    expect(outcome(await ask(sandbox, `${rule}.sql`))).toBe('failed');
  } finally {
    if (mend) await sandbox.plant(mend);
  }
});

test('every rule has a check in the manifest', async () => {
  const { clauses } = await readManifest(path.join(ROOT, 'selftest/dieu45.yaml'));
  const listed = clauses.flatMap(({ checks }) => checks.map(({ file }) => file));
  expect(rules.filter((rule) => !listed.includes(`${FOLDER}/${rule}`))).toEqual([]);
});

test('every rule has been seen red', () => {
  const broken = new Set(breaks.map(({ rule }) => `${rule}.sql`));
  expect(rules.filter((rule) => !broken.has(rule))).toEqual([]);
});

test('a finding is named by its columns, and many are counted', async () => {
  await using sandbox = await server.sandbox('empty');
  const { seen } = await askText(
    sandbox,
    `-- Nothing is odd. More words.\nwith expected(n) as (select generate_series(1, 30)) select n, null as no, 'a b' as b from expected;`,
  );
  expect(seen[0]).toEqual({ is: 'count', name: 'looked_at', value: 30 });
  expect(seen[1]).toMatchObject({
    name: 'Nothing is odd',
    ok: false,
    expected: 'no row',
    seen: '30 rows, the first: n=1 b=a b',
    at: { file: 'rule.sql', line: 2 },
  });
  const trace = seen[1]?.is === 'assertion' ? seen[1].trace : [];
  expect([trace?.length, trace?.[0], trace?.at(-1)]).toEqual([20, 'n=2 b=a b', '… and 10 more']);
});

test.each([
  [
    'a list that is empty',
    'with expected(n) as (select 1 where false) select n from expected',
    'is empty',
  ],
  ['no list', 'select 1 where false', 'begins "with expected'],
  [
    'a list of another name',
    'with other(n) as (select 1) select n from other',
    'begins "with expected',
  ],
  [
    'two queries',
    'with expected(n) as (select 1) select n from expected where false; select 1;',
    'rule.sql:1:68: a catalog rule is one query',
  ],
  ['no query', '-- nothing', 'holds no query'],
])('%s is a gap in coverage, never green', async (_, text, message) => {
  await using sandbox = await server.sandbox('empty');
  const { threw } = await askText(sandbox, text);
  expect(threw).toBeInstanceOf(CoverageError);
  expect((threw as Error).message).toContain(message);
});

test('a mistake of the rule itself is thrown, not a finding', async () => {
  await using sandbox = await server.sandbox('empty');
  const { threw } = await askText(
    sandbox,
    'with expected(n) as (select 1) select nowhere from expected',
  );
  expect(threw).toMatchObject({ code: '42703' });
});

test('a rule cannot write', async () => {
  await using sandbox = await server.sandbox('queue');
  const { threw } = await askText(
    sandbox,
    `with expected(n) as (select 1), gone as (delete from public.job_sweep returning 1) select n from expected`,
  );
  expect(threw).toMatchObject({ code: '25006' });
});
