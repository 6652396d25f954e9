import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  symlink,
  unlink,
  stat,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { geteuid } from 'node:process';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build } from 'vite';
import { openCluster, type Cluster } from './cluster.ts';
import { copyPrograms } from './programs.ts';
import {
  nativeFolder,
  options,
  processesIn,
  remains,
  sharedMemory,
  startChild,
  tracesOf,
  until,
  type Traces,
} from './testing.ts';

const root = geteuid?.() === 0;
/** An ordinary user, neither root nor the one that root's servers run as: `daemon` is everywhere. */
const ORDINARY = root ? { uid: 1, gid: 1 } : {};
/** A user without a name and a home, as in a container that was started with `--user 54321`. */
const UNNAMED = { uid: 54321, gid: 54321 };
/** A folder that everybody may enter, whatever the umask and wherever the checkout. */
let open: string;

beforeAll(async () => {
  open = await mkdtemp(join(tmpdir(), 'd45-test-'));
  await chmod(open, 0o755);
});
afterAll(async () => {
  await rm(open, { recursive: true, force: true });
});

async function query(cluster: Cluster, sql: string): Promise<unknown> {
  const client = new pg.Client(cluster.connection('postgres'));
  await client.connect();
  try {
    return Object.values((await client.query<Record<string, unknown>>(sql)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

async function gone(traces: Traces): Promise<void> {
  let left: string[] = [];
  await until('nothing remains', async () => (left = await remains(traces)).length === 0).catch(
    () => {
      expect(left).toEqual([]);
    },
  );
}

describe.concurrent('a throwaway cluster', () => {
  test('serves, is killed, comes back with its data, and leaves nothing', async () => {
    const cluster = await openCluster(options({ env: { TZ: 'Asia/Ho_Chi_Minh' } }));
    const traces = await tracesOf(cluster);
    try {
      expect(await remains(traces)).toContain(`folder ${traces.folder}`);
      expect(await remains(traces)).toContain(`segment ${traces.sharedMemoryId}`);
      expect((await processesIn(traces.folder)).length).toBeGreaterThan(3);
      expect(await query(cluster, 'show timezone')).toBe('Asia/Ho_Chi_Minh');
      expect(await query(cluster, 'show listen_addresses')).toBe('');
      expect(await query(cluster, 'show server_encoding')).toBe('UTF8');
      await query(cluster, 'create table kept as select 42 as answer');
      await cluster.kill();
      await expect(query(cluster, 'select 1')).rejects.toThrow();
      await cluster.restart();
      expect(await query(cluster, 'select answer from kept')).toBe(42);
    } finally {
      await cluster[Symbol.asyncDispose]();
    }
    expect(await remains(traces)).toEqual([]);
  });

  test.each([
    ['', ['ipcrm']],
    [', nor does it without ipcrm', []],
  ])('that was killed and not restarted leaves nothing either%s', async (_, more) => {
    const PATH = await mkdtemp(join(open, 'path-'));
    await chmod(PATH, 0o755);
    // A user without a name needs unshare as well.
    for (const name of ['mkdir', 'rm', 'sleep', 'unshare', ...more]) {
      await symlink(
        execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
        join(PATH, name),
      );
    }
    const cluster = await openCluster(options({ env: { PATH } }));
    const traces = await tracesOf(cluster);
    await cluster.kill();
    expect(await remains(traces)).toContain(`segment ${traces.sharedMemoryId}`);
    await cluster[Symbol.asyncDispose]();
    expect(await remains(traces)).toEqual([]);
  });

  test('that cannot start says why, and leaves nothing', async () => {
    const tmpDir = await mkdtemp(join(open, 'bad-'));
    await chmod(tmpDir, 0o777);
    const opened = openCluster(options({ tmpDir, settings: { max_connections: '-1' } }));
    await expect(opened).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining('max_connections') as string,
    });
    expect(await readdir(tmpDir)).toEqual([]);
    expect(await processesIn(tmpDir)).toEqual([]);
  });

  test.each([
    ['making a database cluster', 50],
    ['making a database cluster', 500],
    ['starting PostgreSQL', 0],
  ])('that is interrupted while %s, after %i ms, leaves nothing', async (phase, afterMs) => {
    const tmpDir = await mkdtemp(join(open, 'stop-'));
    await chmod(tmpDir, 0o777);
    const controller = new AbortController();
    const reason = new Error('interrupted');
    let pids: string[] = [];
    const interrupt = async (): Promise<void> => {
      // Looking takes time, in which a server would be up: without a delay there is no look.
      if (afterMs > 0) {
        pids = (await processesIn(tmpDir)).flatMap((line) => line.split(' ')[1] ?? []);
      }
      controller.abort(reason);
    };
    const progress = (text: string): void => {
      if (text !== phase) return;
      if (afterMs > 0) setTimeout(() => void interrupt(), afterMs);
      else void interrupt();
    };
    const opened = openCluster(options({ tmpDir, progress, signal: controller.signal }));
    await expect(opened).rejects.toBe(reason);
    if (afterMs > 0) expect(pids.length).toBeGreaterThan(1);
    expect(await readdir(tmpDir)).toEqual([]);
    expect(await processesIn(tmpDir)).toEqual([]);
    const segments = await sharedMemory();
    expect(segments.filter(({ creator }) => pids.includes(creator))).toEqual([]);
  });

  test('whose initdb is killed in the middle leaves nothing', async () => {
    const tmpDir = await mkdtemp(join(open, 'kill-'));
    await chmod(tmpDir, 0o777);
    let over = false;
    const opened = openCluster(options({ tmpDir }));
    const failed = expect(opened)
      .rejects.toMatchObject({ exitCode: 69 })
      .finally(() => (over = true));
    // The backends that initdb feeds, once they have shared memory; not those with which it tries
    // settings before, since without one of them it goes on. Again and again: one may just be ending.
    const victims = new Set<string>();
    await until('initdb is over', async () => {
      const creators = (await sharedMemory()).map(({ creator }) => creator);
      for (const line of await processesIn(tmpDir)) {
        const pid = line.split(' ')[1] ?? '';
        if (!/postgres --(boot|single) /.test(line) || !creators.includes(pid)) continue;
        victims.add(pid);
        spawnSync('kill', ['-KILL', pid]);
      }
      return over;
    });
    await failed;
    expect(victims.size).toBeGreaterThan(0);
    expect(await readdir(tmpDir)).toEqual([]);
    expect((await sharedMemory()).filter(({ creator }) => victims.has(creator))).toEqual([]);
  });

  test('runs from a package whose links npm did not make, in a home that others cannot read', async () => {
    const home = await mkdtemp(join(open, 'home-'));
    const native = join(home, 'native');
    await cp(nativeFolder(), native, { recursive: true, verbatimSymlinks: true });
    await dropLinks(native);
    spawnSync('chmod', ['-R', 'go-rwx', home]);
    const before = await listing(native);
    {
      await using cluster = await openCluster(options({ programs: { native } }));
      expect(await query(cluster, 'select 1')).toBe(1);
    }
    expect(await listing(native)).toEqual(before);
  });

  test('runs an installation of the machine where it is, in a folder with an odd name', async () => {
    const installed = join(open, 'installed');
    await copyPrograms(nativeFolder(), installed, undefined);
    const bin = join(installed, 'bin');
    const tmpDir = join(open, `đ 'ô ,`);
    await mkdir(tmpDir);
    await chmod(tmpDir, 0o777);
    await using cluster = await openCluster(options({ programs: { bin }, tmpDir }));
    expect(cluster.bin).toBe(bin);
    expect(cluster.folder.startsWith(tmpDir)).toBe(true);
    const client = new pg.Client(cluster.url('postgres'));
    await client.connect();
    await client.end();
  });

  test('says what is wrong with a folder that holds no server', async () => {
    const opened = openCluster(options({ programs: { bin: '/usr/nowhere' } }));
    await expect(opened).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining('/usr/nowhere/postgres cannot be run') as string,
    });
  });
});

describe('when the kit is killed', () => {
  let bundle: string;
  let native: string;
  beforeAll(async () => {
    await build({
      configFile: false,
      logLevel: 'error',
      build: {
        ssr: join(import.meta.dirname, 'testing_child.ts'),
        outDir: join(open, 'bundle'),
        rolldownOptions: { external: ['pg-native'], output: { entryFileNames: 'child.mjs' } },
      },
      ssr: { noExternal: true },
    });
    bundle = join(open, 'bundle/child.mjs');
    native = join(open, 'native');
    await copyPrograms(nativeFolder(), native, undefined);
  });

  test.concurrent.each([
    ['SIGKILL', {}],
    ['SIGKILL', ORDINARY],
    ['SIGTERM', {}],
  ] as const)('by %s as %j, its server ends and leaves nothing', async (signal, identity) => {
    const child = await startChild(bundle, native, identity);
    if ('uid' in identity) expect(child.whoami).toBe(identity.uid);
    const owner = (await stat(child.traces.folder)).uid;
    expect(owner).toBe(root && child.whoami === 0 ? 65534 : child.whoami);
    expect((await remains(child.traces)).length).toBeGreaterThan(3);
    child.process.kill(signal);
    await gone(child.traces);
  });

  test('a user without a name is served where user namespaces are allowed, and told what to do elsewhere', async () => {
    const identity = root ? UNNAMED : {};
    const allowed = spawnSync('unshare', ['-U', 'true'], identity).status === 0 || !root;
    const child = startChild(bundle, native, identity);
    if (allowed) {
      const { process, traces } = await child;
      process.kill('SIGKILL');
      await gone(traces);
    } else {
      await expect(child).rejects.toThrow(/add the user to \/etc\/passwd/);
    }
  });
});

async function dropLinks(native: string): Promise<void> {
  const lib = join(native, 'lib');
  for (const entry of await readdir(lib, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await unlink(join(lib, entry.name));
  }
  const links = await readFile(join(native, 'pg-symlinks.json'), 'utf8');
  expect(links).toContain('libicudata');
  const version = spawnSync(join(native, 'bin/postgres'), ['--version'], { encoding: 'utf8' });
  expect(version.stderr).toContain('shared libraries');
}

/** Every path of a tree with its mode and time: a change of any file shows. */
async function listing(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return Promise.all(
    entries.sort().map(async (entry) => {
      const { mode, mtimeMs } = await stat(join(folder, entry));
      return `${entry} ${mode} ${mtimeMs}`;
    }),
  );
}
