/** What `doctor` looks at. Each look ends by itself and never throws, but for an interruption. */
import { execFile } from 'node:child_process';
import { access, constants, readdir } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { versions } from 'node:process';
import { promisify } from 'node:util';
import { KitError, messageOf } from '../errors.ts';
import { cacheFolder } from '../target/fetch.ts';
import { openTarget } from '../target/index.ts';
import { DEFAULT_MAJOR, MAJORS, SERVERS } from '../target/versions.ts';
import type { Io } from './io.ts';

/** One thing looked at; `needed` is missing and the gate cannot do without it. */
export type Finding = {
  name: string;
  state: 'here' | 'missing' | 'needed';
  text: string;
  hint?: string;
};

const LEAST_NODE_MAJOR = 20;
const PROGRAM_LIMIT_MS = 5_000;
const run = promisify(execFile);

/** Everything that the kit can use, looked at side by side, in a fixed order. */
export async function lookAround(io: Io): Promise<Finding[]> {
  return Promise.all([
    node(),
    embedded(io),
    otherVersions(io),
    localServers(io),
    docker(io),
    psql(io),
    temporaryFolder(),
    cache(io),
    settings(io),
  ]);
}

function node(): Promise<Finding> {
  const name = 'Node.js';
  const enough = Number(versions.node.split('.')[0]) >= LEAST_NODE_MAJOR;
  return Promise.resolve(
    enough
      ? { name, state: 'here', text: versions.node }
      : {
          name,
          state: 'needed',
          text: `${versions.node} is too old`,
          hint: `install Node.js ${LEAST_NODE_MAJOR} or later`,
        },
  );
}

/** Starts and stops a server: nothing less shows that one can run here. */
async function embedded(io: Io): Promise<Finding> {
  const name = 'embedded server';
  try {
    const target = openTarget('embedded', { env: io.env, tmpDir: tmpdir(), root: io.root });
    await using server = await target.open(io.signal);
    const { versionNum } = server;
    const version = `${Math.floor(versionNum / 10_000)}.${versionNum % 10_000}`;
    const pgtap = server.can.has('pgtap') ? ', and takes pgTAP' : '';
    return { name, state: 'here', text: `PostgreSQL ${version} starts and stops${pgtap}` };
  } catch (error) {
    io.signal.throwIfAborted();
    const hint = error instanceof KitError ? error.hint : undefined;
    return {
      name,
      state: 'needed',
      text: messageOf(error),
      hint: hint ?? 'npm install, or use --target local:/path/to/bin',
    };
  }
}

/** Versions that are in the cache, and those that `--target embedded:N` would fetch. */
async function otherVersions(io: Io): Promise<Finding> {
  const name = 'other versions';
  const machine = `${platform()}-${arch()}`;
  const pinned = SERVERS[machine] ?? {};
  const cached = await namesIn(join(cacheFolder(io.env), 'servers'));
  const others = MAJORS.filter((major) => major !== DEFAULT_MAJOR && pinned[major] !== undefined);
  const here = others.filter((major) => cached.includes(pinned[major]?.version ?? ''));
  const fetched = others.filter((major) => !here.includes(major));
  const [example] = others;
  if (example === undefined)
    return {
      name,
      state: 'missing',
      text: `none for ${machine}`,
      hint: `${io.self} gate --target local:/path/to/bin`,
    };
  const parts = [
    ...(here.length === 0 ? [] : [`in the cache: ${here.join(', ')}`]),
    ...(fetched.length === 0 ? [] : [`fetched when asked for: ${fetched.join(', ')}`]),
  ];
  const hint = `${io.self} gate --target embedded:${example}`;
  return { name, state: 'here', text: parts.join('; '), hint };
}

/** Server installations where distributions put them, and the one that pg_config names. */
async function localServers(io: Io): Promise<Finding> {
  const name = 'local servers';
  const debian = '/usr/lib/postgresql';
  const named = await output(io, 'pg_config', ['--bindir']);
  const places = [
    ...(await namesIn(debian)).map((version) => join(debian, version, 'bin')),
    ...(named === undefined ? [] : [named]),
    '/opt/homebrew/bin',
    '/usr/local/pgsql/bin',
  ];
  const found = await filterAsync([...new Set(places)], (place) =>
    can(join(place, 'postgres'), constants.X_OK),
  );
  const [first] = found;
  if (first === undefined)
    return { name, state: 'missing', text: 'none found; the embedded one needs none' };
  const hint = `${io.self} gate --target local:${first}`;
  return { name, state: 'here', text: found.map((place) => dirname(place)).join(', '), hint };
}

async function docker(io: Io): Promise<Finding> {
  const name = 'Docker';
  const version = await output(io, 'docker', ['version', '--format', '{{.Server.Version}}']);
  if (version !== undefined)
    return {
      name,
      state: 'here',
      text: `engine ${version}`,
      hint: `${io.self} gate --target container:postgres:17`,
    };
  return {
    name,
    state: 'missing',
    text: 'no engine answers; only --target container:… needs one',
    hint: 'install docker and start dockerd',
  };
}

async function psql(io: Io): Promise<Finding> {
  const name = 'psql';
  const version = await output(io, 'psql', ['--version']);
  return version === undefined
    ? { name, state: 'missing', text: 'not found; the kit installs SQL without it' }
    : { name, state: 'here', text: version };
}

async function temporaryFolder(): Promise<Finding> {
  const name = 'temporary folder';
  const folder = tmpdir();
  if (await can(folder, constants.W_OK)) return { name, state: 'here', text: folder };
  return {
    name,
    state: 'needed',
    text: `${folder} cannot be written to`,
    hint: 'set TMPDIR to a folder that may be written to',
  };
}

async function cache(io: Io): Promise<Finding> {
  const name = 'cache folder';
  const folder = cacheFolder(io.env);
  const there = await can(folder, constants.F_OK);
  if (!there) return { name, state: 'here', text: `${folder} (made when something is fetched)` };
  if (await can(folder, constants.W_OK)) return { name, state: 'here', text: folder };
  return {
    name,
    state: 'missing',
    text: `${folder} cannot be written to`,
    hint: 'set XDG_CACHE_HOME to a folder that may be written to',
  };
}

/** Names only: a password must never be printed. */
function settings(io: Io): Promise<Finding> {
  const name = 'PG* variables';
  const set = Object.keys(io.env).filter((key) => /^PG[A-Z]+$/.test(key));
  return Promise.resolve(
    set.length === 0
      ? { name, state: 'missing', text: 'none set; only --target postgres://… reads them' }
      : { name, state: 'here', text: set.sort().join(', ') },
  );
}

/** The first line that a program prints; undefined when it is not there, fails or hangs. */
async function output(
  io: Io,
  program: string,
  args: readonly string[],
): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, [...args], {
      env: { ...io.env },
      timeout: PROGRAM_LIMIT_MS,
      signal: io.signal,
    });
    const line = stdout.trim().split('\n', 1)[0] ?? '';
    return line === '' ? undefined : line;
  } catch {
    io.signal.throwIfAborted();
    return undefined;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

async function can(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

async function filterAsync<T>(
  items: readonly T[],
  keep: (item: T) => Promise<boolean>,
): Promise<T[]> {
  const kept = await Promise.all(items.map(keep));
  return items.filter((_, index) => kept[index]);
}
