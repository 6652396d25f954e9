import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { KitError } from '../errors.ts';
import { openSession } from '../sandbox/session.ts';
import { openTarget } from '../target/index.ts';
import type { Sandbox, Server } from '../types.ts';
import { runPgtapLine } from './command_line/pgtap_runner.ts';
import type { Io } from './io.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

let cwd = '';
let server: Server;
let sandbox: Sandbox;
/** A server that is there already, with a database that is somebody's. */
let url = '';
beforeAll(async () => {
  const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root: ROOT });
  server = await target.open(new AbortController().signal);
  await server.template('app', async (session) => {
    await session.query('create table widget (id int primary key); insert into widget values (1)');
  });
  sandbox = await server.sandbox('app');
  url = sandbox.url;
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'dieu45 kiểm thử-'));
  return () => rm(cwd, { recursive: true });
});

type Ran = { code: number; out: string; err: string };

/** Runs the command as if it had been typed, on the server that is there already: that is quick. */
async function run(args: readonly string[], more: Partial<Io> = {}): Promise<Ran> {
  return type([...args, ...(args.includes('--target') ? [] : ['--target', url])], more);
}

async function type(args: readonly string[], more: Partial<Io> = {}): Promise<Ran> {
  const ran = { code: -1, out: '', err: '' };
  const io: Io = {
    out: { write: (text) => (ran.out += text) },
    err: { write: (text) => (ran.err += text) },
    color: false,
    width: 100,
    root: ROOT,
    cwd,
    env: {},
    signal: new AbortController().signal,
    self: 'pgtap-runner',
    ...more,
  };
  ran.code = await runPgtapLine(args, io, '2.0.0');
  return ran;
}

async function files(texts: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(texts)) {
    await mkdir(path.dirname(path.join(cwd, name)), { recursive: true });
    await writeFile(path.join(cwd, name), text);
  }
}

const SCHEMA = 'create table widget (id int primary key);\ninsert into widget values (1);\n';
/** Adds a widget: twice in one database, it fails. */
const ADDS = `begin;\nselect plan(1);\ninsert into widget values (2);\nselect is(count(*)::int, 2, 'two widgets') from widget;\nselect * from finish();\nrollback;\n`;
const KEEPS = ADDS.replace('rollback', 'commit');

test('each file has a database of its own, made by the setup script', async () => {
  await files({
    'schema.sql': '\\ir parts/table.sql',
    'parts/table.sql': SCHEMA,
    't/a.sql': KEEPS,
    't/b.sql': KEEPS,
  });
  const { code, out } = await run(['t', '--setup', 'schema.sql', '--jobs', '2']);
  expect(out).toMatch(
    /^✓ t\/a\.sql {2}1 test · .*\n✓ t\/b\.sql {2}1 test · .*\n2 tests in 2 files: 2 passed, 0 failed, 0 skipped/,
  );
  expect(code).toBe(0);
});

test('a failure is shown, and reports are written beside it', async () => {
  await files({ 'a.sql': "select plan(1);\nselect is(1, 2, 'one');\n" });
  const { code, out } = await run([
    'a.sql',
    '--reporter',
    'text',
    '--reporter',
    'junit:out/j.xml',
    '--reporter',
    'tap:t.tap',
  ]);
  expect(code).toBe(1);
  expect(out).toContain('    ✗ 1 one\n      a.sql:2\n      expected 2\n      seen     1\n');
  expect(await readFile(path.join(cwd, 'out/j.xml'), 'utf8')).toContain('failures="1"');
  expect(await readFile(path.join(cwd, 't.tap'), 'utf8')).toContain('not ok 1 - a.sql');
});

test.each([
  ['no plan', "select 'ok 1 - x';", 'there is no plan'],
  [
    'a short plan',
    "select plan(2); select pass('x');",
    'the plan is short: 2 tests planned, 1 ran',
  ],
  [
    'a plan exceeded',
    "select plan(1); select pass('x'); select pass('y');",
    'the plan is exceeded',
  ],
  ['an SQL error', 'select plan(1);\nselect 1 / 0;', 'a.sql:2:1: division by zero'],
  [
    'a command that psql has and this has not',
    'select 1 \\gset',
    'a.sql:1:10: \\gset is not supported',
  ],
  ['a file that only skips itself', "select '1..0 # SKIP not today';", 'skipped: not today'],
  ['nothing', '', 'there is no plan'],
  [
    'a statement that never ends',
    'select plan(1); select pg_sleep(60);',
    'it did not end within 1 s',
  ],
])('%s is not green', async (_, text, says) => {
  await files({ 'a.sql': text });
  const { code, out } = await run(['a.sql', '--timeout', '1']);
  expect(out).toContain(says);
  expect(code).toBe(1);
});

test.each([
  ['no file named', [], 'there is nothing to run'],
  ['a file that is not there', ['none.sql'], 'there is no file none.sql'],
  ['a folder without tests', ['.'], 'the folder . holds no test file'],
])('%s is a failure: nothing to run is not green', async (_, args, message) => {
  const thrown: unknown = await run(args).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(KitError);
  expect(thrown).toMatchObject({ exitCode: 1, message });
});

test('a setup script that fails says where', async () => {
  await files({
    'schema.sql': 'select 1;\ncreate table x (y nothing);',
    'a.sql': 'select plan(1);',
  });
  await expect(run(['a.sql', '--setup', 'schema.sql'])).rejects.toMatchObject({
    exitCode: 1,
    message: 'schema.sql:2:19: type "nothing" does not exist (SQLSTATE 42704)',
  });
});

test('in place, a database that is there stays as it is, and needs no pgTAP', async () => {
  await files({ 'a.sql': ADDS, 'b.sql': ADDS.replace(/begin;|rollback;/g, ''), 'c.sql': KEEPS });
  const { code, out } = await run(['a.sql', 'b.sql', 'c.sql', '--target', url, '--in-place']);
  expect(out).toContain('✓ a.sql  1 test');
  expect(out).toContain('✓ b.sql  1 test');
  expect(out).toContain('c.sql:6:1: this would keep its changes in the database');
  expect(code).toBe(1);
  await using session = await openSession({ connectionString: url }, 'looks');
  expect(await session.query('select count(*)::int as widgets from widget')).toEqual([
    { widgets: 1 },
  ]);
  expect(await session.query(`select nspname from pg_namespace where nspname = 'tap'`)).toEqual([]);
});

test('without a target it brings a server of its own; in place, files share one database there', async () => {
  await files({ 'schema.sql': SCHEMA, 'a.sql': ADDS, 'b.sql': ADDS });
  const { code } = await type(['a.sql', 'b.sql', '--in-place', '--setup', 'schema.sql']);
  expect(code).toBe(0);
});

test('a database that cannot be reached is no failed test', async () => {
  await files({ 'a.sql': ADDS });
  const nowhere = url.replace(/\/[^/?]*(\?|$)/, '/no_such_database$1');
  await expect(run(['a.sql', '--in-place', '--target', nowhere])).rejects.toMatchObject({
    exitCode: 69,
  });
});

test('options that do not go together, and unknown ones, are usage errors', async () => {
  await files({ 'a.sql': ADDS });
  const both = run(['a.sql', '--in-place', '--target', url, '--setup', 'a.sql']);
  await expect(both).rejects.toMatchObject({ exitCode: 64 });
  const reporters = run(['a.sql', '--reporter', 'tap', '--reporter', 'junit']);
  await expect(reporters).rejects.toMatchObject({ exitCode: 64 });
  const typo = run(['a.sql', '--reporter', 'junti:x']);
  await expect(typo).rejects.toMatchObject({
    exitCode: 64,
    message: 'unknown reporter "junti"; did you mean junit?',
  });
  expect(await run(['a.sql', '--in-plac'])).toMatchObject({
    code: 64,
    err: expect.stringContaining('--in-place') as string,
  });
});

test('watching runs again what a change touches, until it is interrupted', async () => {
  await files({
    'lib/part.sql': "select pass('part');\n",
    'a.sql': 'select plan(1);\n\\ir lib/part.sql\n',
    'b.sql': "select plan(1);\nselect pass('b');\n",
  });
  const interruption = new AbortController();
  const seen: string[] = [];
  let next: () => void = () => undefined;
  const line = (text: string): Promise<void> =>
    new Promise((resolve) => {
      next = () => {
        if (seen.join('').includes(text)) resolve();
      };
      next();
    });
  const out = {
    write(text: string) {
      seen.push(text);
      next();
    },
  };
  const watching = run(['a.sql', 'b.sql', '--watch'], {
    out,
    err: out,
    signal: interruption.signal,
  });
  const ended = watching.catch((error: unknown) => error);
  await line('watching');
  seen.length = 0;
  await writeFile(path.join(cwd, 'lib/part.sql'), "select fail('part');\n");
  await line('1 test in 1 file: 0 passed, 1 failed');
  expect(seen.join('')).not.toContain('b.sql');
  seen.length = 0;
  await writeFile(
    path.join(cwd, 'b.sql'),
    "select plan(2);\nselect pass('b');\nselect pass('c');\n",
  );
  await line('2 tests in 1 file: 2 passed');
  interruption.abort(new KitError(130, 'interrupted'));
  expect(await ended).toMatchObject({ exitCode: 130 });
});
