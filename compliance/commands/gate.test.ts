import { rmSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KitError } from '../errors.ts';
import type { Report } from '../report/report.ts';
import { gate, type GateOptions } from './gate.ts';
import type { Io } from './io.ts';

/** A whole project of two clauses, proven on a real server: a folder to copy, and to break. */
const tiny = fileURLToPath(new URL('../../docs/examples/tiny', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
let workshop = '';

beforeAll(async () => {
  workshop = await mkdtemp(join(tmpdir(), 'dieu45 xưởng '));
});
afterAll(async () => {
  await rm(workshop, { recursive: true, force: true });
});

/** A copy of the project in which each named file was changed. */
async function project(
  name: string,
  changes: Readonly<Record<string, (text: string) => string>> = {},
): Promise<string> {
  const folder = join(workshop, name);
  await cp(tiny, folder, { recursive: true });
  for (const [file, change] of Object.entries(changes)) {
    const before = await readFile(join(folder, file), 'utf8');
    const after = change(before);
    expect(after).not.toBe(before);
    await writeFile(join(folder, file), after);
  }
  return folder;
}

/** The function never comes back. */
function hanging(sql: string): string {
  return sql.replace('update public.counter', 'select pg_sleep(600);\n  update public.counter');
}

async function run(
  folder: string,
  wanted: Partial<GateOptions> = {},
  signal = new AbortController().signal,
  onOut: (text: string) => void = () => undefined,
) {
  const printed = { out: '', err: '' };
  const io: Io = {
    out: {
      write: (text) => {
        printed.out += text;
        onOut(text);
      },
    },
    err: { write: (text) => (printed.err += text) },
    color: false,
    width: 100,
    root,
    cwd: folder,
    env: {},
    signal,
    self: './scripts/dieu45',
  };
  const code = await gate(
    {
      only: [],
      profile: 'ci',
      seed: 1,
      reporters: [],
      manifest: 'selftest/tiny.yaml',
      lang: 'en',
      timings: false,
      quiet: false,
      verbose: false,
      ...wanted,
    },
    io,
  );
  return { code, ...printed };
}

const reportIn = async (folder: string): Promise<Report> =>
  JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')) as Report;

test.concurrent(
  'a project that keeps its clauses passes, and leaves a bundle with its evidence',
  async () => {
    const folder = await project('green');
    const { code, out } = await run(folder, { out: 'evidence/latest' });
    expect(out).toMatch(/^✓ §2 {2}One row {2,}passed/m);
    expect(out).toMatch(/^○ §1 {2}Counting {2,}not reviewed/m);
    expect(out).toMatch(/\n3 passed, 0 failed, 1 skipped\n$/);
    expect(code).toBe(0);

    const bundle = join(folder, 'evidence/latest');
    const report = await reportIn(bundle);
    expect(report.run).toMatchObject({ seed: 1, target: 'embedded' });
    expect(report.run.serverVersion).toMatch(/^17\./);
    for (const { files } of report.clauses.flatMap(({ checks }) => checks))
      for (const { path } of files)
        expect(await readFile(join(bundle, path), 'utf8')).toMatch(/^ok/m);
    expect(await readdir(join(folder, 'evidence'))).toEqual(['latest']);

    // A second time, over the first: the same but for what stands under run and measured.
    await run(folder, { out: 'evidence/latest', seed: 2 });
    const again = await reportIn(bundle);
    expect({ ...again, run: 0, measured: 0 }).toEqual({ ...report, run: 0, measured: 0 });
    expect(await readdir(join(folder, 'evidence'))).toEqual(['latest']);
  },
);

test.concurrent('a broken function fails its clause, and the message names the fault', async () => {
  const folder = await project('red', {
    'sql/counter.sql': (sql) => sql.replace('value + 1', 'value + 2'),
  });
  const { code, out } = await run(folder);
  expect(code).toBe(1);
  expect(out).toMatch(/^✗ §1 /m);
  expect(out).toMatch(/^✓ §2 /m);
  expect(out).toContain('✗ c1.counts-up  failed');
  expect(out).toContain('the first number is one');
  expect(out).toMatch(/expected +1\n +seen +2\n/);
  expect(out).toContain(
    './scripts/dieu45 gate --only c1.counts-up --seed 1 --manifest selftest/tiny.yaml',
  );
});

test.concurrent('too little observed is unknown, and a plan that is short is a gap', async () => {
  const folder = await project('thin', {
    'selftest/tiny.yaml': (yaml) =>
      yaml.replace('looked_at: 1', 'looked_at: 9').replace('expects: 2', 'expects: 4'),
  });
  const { code, out } = await run(folder);
  expect(code).toBe(3);
  expect(out).toContain('looked_at is 1, not 9');
  expect(out).toContain('planned 4 assertions and made only 2');
  const only = await run(folder, { only: ['c2'] });
  expect(only.code).toBe(2);
  expect(only.out).toMatch(/\n1 passed, 1 failed, 0 skipped\n$/);
});

test.concurrent('a check that hangs ends at its own limit, and the rest goes on', async () => {
  const folder = await project('slow', {
    'sql/counter.sql': (sql) => hanging(sql),
    'selftest/tiny.yaml': (yaml) =>
      yaml
        .replace('limit_seconds: 20', 'limit_seconds: 1')
        .replace(
          'expects: 1\n      - id: c2.not-null',
          'expects: 1\n        limit_seconds: 1\n      - id: c2.not-null',
        ),
  });
  const { code, out } = await run(folder);
  expect(code).toBe(70);
  expect(out).toContain('it did not end within its limit of 1 s');
  expect(out).toMatch(/\n1 passed, 2 failed, 1 skipped\n$/);
});

test.concurrent(
  'the release profile requires what is planned, and takes what ci leaves out',
  async () => {
    const { code, out } = await run(await project('release'), { profile: 'release' });
    expect(code).toBe(2);
    expect(out).toMatch(/\n4 passed, 0 failed, 1 skipped\n$/);
  },
);

test.concurrent('only planned checks: nothing ran, which is never green', async () => {
  const { code } = await run(await project('planned'), { only: ['c1.under-load'] });
  expect(code).toBe(3);
});

test.concurrent('SQL that the server refuses is named with its place', async () => {
  const folder = await project('broken', {
    'sql/counter.sql': (sql) => sql.replace('returns integer', 'returns intteger'),
  });
  await expect(run(folder)).rejects.toThrow(/sql\/counter\.sql:\d+:\d+: .*intteger/);
});

test.concurrent('an interruption throws its reason, and leaves no bundle', async () => {
  const folder = await project('interrupted', {
    'sql/counter.sql': (sql) => hanging(sql),
  });
  const aborter = new AbortController();
  const ending = run(folder, { out: 'evidence/latest', verbose: true }, aborter.signal, (text) => {
    if (text.includes('counter.sql')) aborter.abort(new KitError(130, 'interrupted'));
  });
  await expect(ending).rejects.toMatchObject({ exitCode: 130 });
  expect(await readdir(join(folder, 'evidence'))).toEqual([]);
});

test.concurrent.each([
  ['green', (text: string) => text, 70],
  ['red', (text: string) => text.replace(' not null', ''), 1],
] as const)(
  'evidence that cannot be written does not swallow a %s verdict',
  async (name, change, code) => {
    const folder = await project(
      `unwritable ${name}`,
      name === 'red' ? { 'sql/counter.sql': change } : {},
    );
    let printed = '';
    const ending = run(
      folder,
      { out: 'evidence/latest', only: ['c2.not-null'] },
      new AbortController().signal,
      (text) => {
        printed += text;
        // As if the disk were full: the folder that the bundle is made in goes away.
        if (text.includes('§2')) rmSync(join(folder, 'evidence'), { recursive: true, force: true });
      },
    );
    const ended = await ending.catch((error: unknown) => error);
    expect(ended).toMatchObject(code === 70 ? { exitCode: 70 } : { code: 1 });
    expect(printed).toMatch(/\n\d passed, \d failed, 0 skipped\n$/);
  },
);

test.concurrent.each<[string, Partial<GateOptions>, RegExp]>([
  ['an unknown clause', { only: ['c3'] }, /unknown clause or check "c3"; did you mean c1\?/],
  ['an unknown profile', { profile: 'cj' }, /unknown profile "cj"; did you mean ci\?/],
  [
    'an unknown reporter',
    { reporters: ['junti:x'] },
    /unknown reporter "junti"; did you mean junit\?/,
  ],
  ['two reporters on standard output', { reporters: ['tap', 'json'] }, /only one reporter/],
  ['a reporter without its path', { reporters: ['json:'] }, /the path is missing/],
  ['a bad target', { target: 'embeded' }, /unknown target/],
  ['an --out that holds other things', { out: 'sql' }, /other things than an evidence bundle/],
])('%s is a usage error', async (name, wanted, message) => {
  const folder = await project(name);
  await expect(run(folder, wanted)).rejects.toThrow(
    expect.objectContaining({ exitCode: 64, message: expect.stringMatching(message) as string }),
  );
});

test.concurrent(
  'a machine report without a path replaces the report for people, one with a path does not',
  async () => {
    const folder = await project('reporters');
    const { out } = await run(folder, { only: ['c2'], reporters: ['tap', 'junit:out/junit.xml'] });
    expect(out).toMatch(/^TAP version 14\n1\.\.2\nok 1 - c2\.one-row/);
    expect(await readFile(join(folder, 'out/junit.xml'), 'utf8')).toContain('<testsuites');
  },
);
