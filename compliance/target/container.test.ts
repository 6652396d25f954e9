/**
 * A real container, where an engine and an image can be had: `scripts/make-image` makes the image. In
 * all other places this is the one test that is skipped, and says why.
 */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { env } from 'node:process';
import { describe, expect, test } from 'vitest';
import { openTarget } from './index.ts';
import { ROOT } from './testing.ts';

const image = env.DIEU45_TEST_IMAGE ?? 'dieu45-test-postgres:15';
const answers = (...args: string[]): boolean => spawnSync('docker', args).status === 0;

function missing(): string | undefined {
  if (!answers('info')) return 'no container engine answers';
  if (!answers('image', 'inspect', image)) return `there is no image ${image}: scripts/make-image`;
  return undefined;
}

// Its helper image cannot be made here; these tests end their containers themselves.
env.TESTCONTAINERS_RYUK_DISABLED = 'true';
const why = missing();
const open = (text: string) =>
  openTarget(text, { env: {}, tmpDir: tmpdir(), root: ROOT }).open(new AbortController().signal);

describe.skipIf(why !== undefined)(`a container${why === undefined ? '' : ` (${why})`}`, () => {
  test('serves databases, and is gone with its volumes afterwards', async () => {
    const before = containers();
    {
      await using server = await open(`container:${image}`);
      expect(containers().length).toBe(before.length + 1);
      expect(server.versionNum).toBeGreaterThanOrEqual(130000);
      expect([...server.can]).toEqual(['own_server', 'superuser', 'pgtap']);
      await server.template('empty', async (session) => {
        await session.query('create table t as select 1 as one');
      });
      await using sandbox = await server.sandbox('empty');
      await using session = await sandbox.session('test');
      expect(await session.query('select one from t')).toEqual([{ one: 1 }]);
    }
    expect(containers()).toEqual(before);
  });

  test('one that is aborted while it starts is gone too', async () => {
    const before = containers();
    const target = openTarget(`container:${image}`, { env: {}, tmpDir: tmpdir(), root: ROOT });
    await expect(target.open(AbortSignal.timeout(500))).rejects.toThrow(/timeout/);
    expect(containers()).toEqual(before);
  });

  test('one that ends at once leaves nothing, and the error names its image', async () => {
    const broken = 'dieu45-test-broken:1';
    const input = `FROM ${image}\nENTRYPOINT ["/bin/false"]\n`;
    expect(spawnSync('docker', ['build', '--tag', broken, '-'], { input }).status).toBe(0);
    const before = containers();
    await expect(open(`container:${broken}`)).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining(broken) as string,
    });
    expect(containers()).toEqual(before);
  });

  test('an image that cannot be had is named', async () => {
    await expect(open('container:localhost:1/no-such-image:1')).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining('localhost:1/no-such-image:1') as string,
    });
  });
});

test.skipIf(answers('info'))('without an engine the error says what to start', async () => {
  await expect(open('container:postgres:17')).rejects.toMatchObject({
    exitCode: 69,
    hint: expect.stringContaining('start a container engine') as string,
  });
});

function containers(): string[] {
  const { stdout } = spawnSync('docker', ['ps', '-aq'], { encoding: 'utf8' });
  return stdout.trim().split('\n').filter(Boolean).toSorted();
}
