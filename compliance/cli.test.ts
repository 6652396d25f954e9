import { execFileSync, spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const tiny = join(root, 'docs/examples/tiny');
let workshop = '';

beforeAll(async () => {
  execFileSync(join(root, 'scripts/build'), { stdio: 'ignore' });
  // Short: the path of a socket has a limit.
  workshop = await mkdtemp('/tmp/dieu45-cli-');
});
afterAll(async () => {
  await rm(workshop, { recursive: true, force: true });
});

/** The command as a process of its own, with a temporary folder of its own to look for leftovers. */
async function start(name: string, args: readonly string[], env: Record<string, string> = {}) {
  const tmp = join(workshop, name);
  await cp(tiny, join(tmp, 'project'), { recursive: true });
  const sql = join(tmp, 'project/sql/counter.sql');
  const text = await readFile(sql, 'utf8');
  await writeFile(sql, text.replace('update public', 'select pg_sleep(600);\n  update public'));
  const child = spawn(process.execPath, [join(root, 'dist/cli.js'), ...args], {
    cwd: join(tmp, 'project'),
    env: { PATH: process.env.PATH ?? '', HOME: tmp, TMPDIR: tmp, ...env },
  });
  const printed = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (more: string) => (printed.out += more));
  child.stderr.setEncoding('utf8').on('data', (more: string) => (printed.err += more));
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.once('close', (code) => {
      resolve({ code, ...printed });
    });
  });
  const says = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (printed.out.includes(text)) resolve();
      };
      child.stdout.on('data', look);
      void ended.then(({ err }) => {
        reject(new Error(`it ended without saying "${text}": ${err}`));
      });
    });
  const leftovers = async (): Promise<string[]> =>
    (await readdir(tmp)).filter((entry) => entry !== 'project');
  return { child, ended, says, leftovers };
}

/** Polls: the keeper of a server outlives the command for a moment. */
async function eventually(condition: () => Promise<boolean>, limitMs = 15_000): Promise<void> {
  const until = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > until) throw new Error('it never became true');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const gate = ['gate', '--manifest', 'selftest/tiny.yaml', '--verbose'];

test.concurrent.each(['SIGINT', 'SIGTERM'] as const)(
  '%s says what is being cleaned, exits 130, and leaves nothing',
  async (signal) => {
    const { child, ended, says, leftovers } = await start(signal, gate);
    await says('pgtap selftest/pgtap/counter.sql');
    child.kill(signal);
    const { code, err } = await ended;
    expect(code).toBe(130);
    expect(err).toContain('interrupted: stopping the server');
    expect(err).toContain('interrupted; everything was cleaned up');
    expect(await leftovers()).toEqual([]);
  },
);

test.concurrent('a killed command leaves nothing either', async () => {
  const { child, ended, says, leftovers } = await start('SIGKILL', gate);
  await says('pgtap selftest/pgtap/counter.sql');
  child.kill('SIGKILL');
  await ended;
  await eventually(async () => (await leftovers()).length === 0);
});

test.concurrent('a reader that goes away does not end the run', async () => {
  const { child, ended, says } = await start('EPIPE', [...gate, '--only', 'c2.not-null']);
  await says('tiny 1.0');
  child.stdout.destroy();
  expect((await ended).code).toBe(0);
});

test.concurrent.each([
  ['NO_COLOR', { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ['FORCE_COLOR', { FORCE_COLOR: '1' }, true],
  ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, false],
  ['no terminal', {}, false],
] as const)('%s decides on colours', async (name, env, colored) => {
  const { ended } = await start(name, ['list', '--manifest', 'selftest/tiny.yaml'], env);
  expect((await ended).out.includes('\u001b[')).toBe(colored);
});

test.concurrent('an error says what to type next, as the command is called here', async () => {
  const { ended } = await start('error', [...gate, '--only', 'c9'], { DIEU45_SELF: 'npx dieu45' });
  const { code, err } = await ended;
  expect(code).toBe(64);
  expect(err).toBe(
    'dieu45: unknown clause or check "c9"; did you mean c1?\n' +
      '  → npx dieu45 list shows every clause and its checks\n',
  );
});
