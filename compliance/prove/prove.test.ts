/** `prove` on a project of one function, and every mutant of ours planted once on a real server. */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Io } from '../commands/io.ts';
import { prove, type ProveOptions } from '../commands/prove.ts';
import { installSubstrate } from '../substrate/index.ts';
import { openTarget } from '../target/index.ts';
import { ROOT } from '../target/testing.ts';
import { loadMutants, type Change } from './mutant.ts';
import { plantMutant } from './plant.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'd45-prove-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const counter = (find: string, replace: string): Change => ({
  function: 'public.next',
  find,
  replace,
});

/** The tiny project with these mutants, by id: clause and change. */
async function project(mutants: Readonly<Record<string, [string, Change]>>): Promise<string> {
  const root = await mkdtemp(join(folder, 'project-'));
  await cp(join(ROOT, 'docs/examples/tiny'), root, { recursive: true });
  await mkdir(join(root, 'selftest/mutants'));
  for (const [id, [clause, change]] of Object.entries(mutants)) {
    const text = { id, title: 'a fault', harm: 'It harms.', seen_in: ['a/b#1'], clause };
    const yaml = stringify({ ...text, changes: [change] });
    await writeFile(join(root, `selftest/mutants/${id.toLowerCase()}.yaml`), yaml);
  }
  return root;
}

async function proving(root: string, more: Partial<ProveOptions> = {}) {
  let out = '';
  const io: Io = {
    out: { write: (text) => (out += text) },
    err: { write: () => undefined },
    color: false,
    width: 100,
    root: ROOT,
    cwd: root,
    env: {},
    signal: new AbortController().signal,
    self: 'dieu45',
  };
  const options = { only: [], floor: 100, seed: 1, manifest: 'selftest/tiny.yaml', ...more };
  return { code: await prove(options, io), out };
}

test('each fate is told, and anything but a kill by the right clause is below the floor', async () => {
  const root = await project({
    F01: ['c1', counter('value + 1', 'value + 2')],
    F02: ['c2', counter('value + 1', 'value + 2')],
    F03: ['c1', counter('value + 1', '1 + value')],
    F04: ['c1', counter('value - 1', 'value')],
    F05: ['c1', counter('value + 1', 'no_such_column')],
    F06: ['c2', { sql: 'alter table public.counter alter column value drop not null' }],
  });
  const { code, out } = await proving(root);
  expect(code).toBe(1);
  expect(out).toMatch(/^F01 +c1 +✓ killed by c1\.counts-up/m);
  expect(out).toMatch(/^F02 +c2 +✗ killed only by another clause, c1\.counts-up/m);
  expect(out).toMatch(/^F03 +c1 +✗ survived/m);
  expect(out).toMatch(/^F04 +c1 +✗ stale: public\.next holds the text 0 times: value - 1/m);
  expect(out).toMatch(/^F05 +c1 +✗ refused by the server: column "no_such_column"/m);
  expect(out).toMatch(/^F06 +c2 +✓ killed by c2\.not-null/m);
  expect(out).toContain('c1 is protected by 1 checks that kill 1 of 4');
  expect(out).toContain('2 of 6 mutants killed by the clause they name (33 %, floor 100 %)');
});

test('one mutant alone is shown with its change and what its check saw', async () => {
  const root = await project({
    F01: ['c1', counter('value + 1', 'value + 2')],
    F02: ['c1', counter('value + 1', 'value')],
  });
  const { code, out } = await proving(root, { only: ['F01'] });
  expect(code).toBe(0);
  expect(out).toContain('- value + 1\n  + value + 2');
  expect(out).toMatch(/caught by c1\.counts-up/);
  expect(out).not.toContain('F02');
  await expect(proving(root, { only: ['F11'] })).rejects.toMatchObject({
    exitCode: 64,
    message: expect.stringContaining('did you mean') as string,
  });
});

test('a substrate that is red by itself proves nothing', async () => {
  const root = await project({ F01: ['c1', counter('value + 2', 'value + 3')] });
  const sql =
    'create table public.counter (value integer not null); insert into public.counter values (0);';
  await writeFile(
    join(root, 'sql/counter.sql'),
    `${sql} create function public.next() returns integer language sql as $$
       update public.counter set value = value + 2 returning value $$;`,
  );
  await expect(proving(root)).rejects.toMatchObject({
    exitCode: 70,
    message: expect.stringContaining('fails on the substrate as it is') as string,
  });
});

test('mistakes in a mutant are told with their place, and an id stands once', async () => {
  const root = await project({ F01: ['c9', counter('value + 1', '')] });
  await expect(proving(root)).rejects.toMatchObject({
    exitCode: 65,
    message: 'selftest/mutants/f01.yaml: F01 names the clause c9, which there is not',
  });
  await writeFile(join(root, 'selftest/mutants/f02.yaml'), 'id: F1\n');
  await expect(loadMutants('selftest/mutants', root)).rejects.toMatchObject({
    exitCode: 65,
    message: expect.stringMatching(/f02\.yaml:1:\d+: /) as string,
  });
  await cp(join(root, 'selftest/mutants/f01.yaml'), join(root, 'selftest/mutants/f02.yaml'));
  await expect(loadMutants('selftest/mutants', root)).rejects.toThrow(/F01 is the id of .*f01/);
});

describe('the mutants of the queue', async () => {
  const mutants = await loadMutants('selftest/mutants', ROOT);

  test('none is stale, and the server takes each', async () => {
    const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root: ROOT });
    await using server = await target.open(new AbortController().signal);
    await server.template('queue', (session) => installSubstrate(session, join(ROOT, 'sql')));
    const refused: string[] = [];
    for (const mutant of mutants) {
      await using sandbox = await server.sandbox('queue');
      await plantMutant(sandbox, mutant).catch((error: unknown) =>
        refused.push(`${mutant.id}: ${String(error)}`),
      );
    }
    expect(refused).toEqual([]);
    expect(mutants.length).toBeGreaterThan(100);
  });
});
