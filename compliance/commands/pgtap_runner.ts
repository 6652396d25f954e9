/** `pgtap-runner FILES…`: runs pgTAP files anywhere, with nothing but this package (kit.md, "pgTAP"). */
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { KitError, messageOf } from '../errors.ts';
import { didYouMean } from '../manifest/suggest.ts';
import { findFiles } from '../pgtap_runner/files.ts';
import { toJunit } from '../pgtap_runner/junit.ts';
import { startLive, type Live } from '../pgtap_runner/live.ts';
import { oneDatabase, ownDatabases, thisDatabase, type Place } from '../pgtap_runner/place.ts';
import { proveFiles } from '../pgtap_runner/prove.ts';
import { isGreen, provedNothing, type FileResult } from '../pgtap_runner/result.ts';
import { toTap } from '../pgtap_runner/tap.ts';
import { fileLines, lastLine, lookOf } from '../pgtap_runner/text.ts';
import { openWatch, partsOf } from '../pgtap_runner/watch.ts';
import { openTarget } from '../target/index.ts';
import type { Server } from '../types.ts';
import { exits, type ExitCode } from '../verdict/exit.ts';
import type { Io } from './io.ts';

export type PgtapOptions = {
  files: readonly string[];
  target: string;
  setup: readonly string[];
  inPlace: boolean;
  /** How many files at once. */
  jobs: number;
  limitSeconds: number;
  reporters: readonly string[];
  verbose: boolean;
  quiet: boolean;
  watch: boolean;
};

const reporterNames = ['text', 'tap', 'junit'] as const;
type Reporter = { name: (typeof reporterNames)[number]; path: string | undefined };

/**
 * Runs the files and returns 0 when all is green, 1 when a test failed, a file broke, or nothing ran.
 * With `watch` it goes on until it is interrupted.
 * @throws KitError 64 for options that do not go together, 69 for a target that cannot be used, and
 * the signal's reason when interrupted.
 */
export async function runPgtap(options: PgtapOptions, io: Io): Promise<ExitCode> {
  const reporters = parseReporters(options.reporters);
  const files = await findFiles(options.files, io.cwd);
  const toUrl = /^postgres(?:ql)?:\/\//i.test(options.target);
  if (options.inPlace && toUrl) {
    if (options.setup.length > 0) {
      throw new KitError(
        exits.usage,
        '--setup would change the database that --in-place leaves as it is',
        'leave one of them out',
      );
    }
    await using place = thisDatabase({ connectionString: options.target });
    return await run(files, options, reporters, io, () => Promise.resolve(place));
  }
  const { env, root, signal } = io;
  const target = openTarget(options.target, {
    env,
    tmpDir: env.TMPDIR ?? tmpdir(),
    root,
    reuseRoles: true,
  });
  await using server = await target.open(signal);
  return await run(files, options, reporters, io, () => placeOn(server, options, io));
}

function placeOn(server: Server, options: PgtapOptions, io: Io): Promise<Place> {
  const make = options.inPlace ? oneDatabase : ownDatabases;
  return make(server, options.setup, io.cwd, io.signal);
}

async function run(
  files: readonly string[],
  options: PgtapOptions,
  reporters: readonly Reporter[],
  io: Io,
  openPlace: () => Promise<Place>,
): Promise<ExitCode> {
  if (!options.watch) {
    await using place = await openPlace();
    const results = await runOnce(files, options, reporters, io, place);
    return isGreen(results) ? exits.passed : exits.failed;
  }
  const watch = openWatch(io.signal);
  let place: Place | undefined;
  try {
    for (let again = files; !io.signal.aborted;) {
      // Before the run, so that what changes while it runs is not missed.
      watch.follow(await partsOfAll([...files, ...options.setup], io.cwd));
      place ??= await openPlace();
      if (again.length > 0) await runOnce(again, options, reporters, io, place);
      io.err.write('watching; Ctrl-C ends\n');
      const changed = await watch.next();
      if (touches(await partsOfAll(options.setup, io.cwd), changed)) {
        await place[Symbol.asyncDispose]();
        place = undefined;
      }
      again = await affected(files, options.setup, changed, io.cwd);
    }
    throw io.signal.reason;
  } finally {
    watch.close();
    await place?.[Symbol.asyncDispose]();
  }
}

/** Another setup concerns every file; another test file, or what it includes, only those. */
async function affected(
  files: readonly string[],
  setup: readonly string[],
  changed: ReadonlySet<string>,
  cwd: string,
): Promise<readonly string[]> {
  if (touches(await partsOfAll(setup, cwd), changed)) return files;
  const parts = await Promise.all(files.map((file) => partsOf(file, cwd)));
  return files.filter((_, i) => touches(parts[i] ?? new Set(), changed));
}

async function partsOfAll(files: readonly string[], cwd: string): Promise<ReadonlySet<string>> {
  const parts = await Promise.all(files.map((file) => partsOf(file, cwd)));
  return new Set(parts.flatMap((set) => [...set]));
}

function touches(parts: ReadonlySet<string>, changed: ReadonlySet<string>): boolean {
  return [...parts].some((part) => changed.has(part));
}

async function runOnce(
  files: readonly string[],
  options: PgtapOptions,
  reporters: readonly Reporter[],
  io: Io,
  place: Place,
): Promise<readonly FileResult[]> {
  const began = performance.now();
  const onScreen = reporters.find(({ path }) => path === undefined)?.name ?? 'text';
  const text = onScreen === 'text';
  const live = text && io.terminal ? startLive(io.terminal, files.length) : undefined;
  const look = lookOf(io.color, io.width, options.verbose);
  const results = await proveInSight(live, () =>
    proveFiles(files, {
      place,
      cwd: io.cwd,
      jobs: options.jobs,
      limitMs: options.limitSeconds * 1000,
      signal: io.signal,
      onRunning: (running) => live?.running(running),
      onResult: (result) => {
        if (!text || (options.quiet && isGreen([result]))) return;
        const lines = `${fileLines(result, look).join('\n')}\n`;
        if (live) live.above(lines);
        else io.out.write(lines);
      },
    }),
  );
  for (const { name, path } of reporters) {
    if (name === 'text') continue;
    const document = name === 'tap' ? toTap(results) : toJunit(results);
    if (path === undefined) io.out.write(document);
    else await save(resolve(io.cwd, path), document);
  }
  if (text) io.out.write(`${lastLine(results, performance.now() - began)}\n`);
  if (provedNothing(results)) io.err.write('nothing was tested: every test was skipped\n');
  return results;
}

async function proveInSight<T>(live: Live | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    live?.stop();
  }
}

function parseReporters(texts: readonly string[]): readonly Reporter[] {
  const reporters = texts.map(parseReporter);
  if (reporters.filter(({ path }) => path === undefined).length > 1) {
    throw new KitError(
      exits.usage,
      'only one reporter can have standard output',
      'give the others a path: --reporter junit:junit.xml',
    );
  }
  return reporters;
}

function parseReporter(text: string): Reporter {
  const [given = '', ...rest] = text.split(':');
  const name = reporterNames.find((known) => known === given);
  if (name === undefined) {
    throw new KitError(
      exits.usage,
      `unknown reporter "${given}"${didYouMean(given, reporterNames)}`,
      `there are: ${reporterNames.join(', ')}`,
    );
  }
  return { name, path: rest.length > 0 ? rest.join(':') : undefined };
}

async function save(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  } catch (error) {
    throw new KitError(exits.usage, `the report cannot be written: ${messageOf(error)}`);
  }
}
