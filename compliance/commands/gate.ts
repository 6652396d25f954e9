/** `gate`: provisions a server, installs the substrate, judges every clause, exits by verdict. */
import { randomInt } from 'node:crypto';
import { arch, availableParallelism, homedir, hostname, platform, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { version as nodeVersion } from 'node:process';
import { KitError, messageOf } from '../errors.ts';
import { type Bundle, openBundle } from '../evidence/bundle.ts';
import { privateTexts, redactDeep, redactor } from '../evidence/redact.ts';
import { loadManifest } from '../manifest/load.ts';
import { toJson } from '../report/json.ts';
import { type Report, reportOf } from '../report/report.ts';
import { counted, wordsOf } from '../report/words.ts';
import { kinds } from '../run/registry.ts';
import { runChecks, type RunOutcome } from '../run/run.ts';
import { profileOf, select, type SelectedClause } from '../run/select.ts';
import { installSubstrate } from '../substrate/index.ts';
import { installPgtap, openTarget } from '../target/index.ts';
import type { Lang, Manifest, Server } from '../types.ts';
import { type ExitCode, exitOf, exits, worstExit } from '../verdict/exit.ts';
import type { Io } from './io.ts';
import { packageFacts } from './package.ts';
import { publicTargetName, reproduceCommand } from './reproduce.ts';
import { openReporters, type Reporters } from './reporters.ts';

export type GateOptions = {
  /** As `--target` takes it; `embedded` when unset. */
  target?: string;
  /** For `postgres://`: the queue's roles may have members there. */
  reuseRoles?: boolean;
  /** Clause and check ids; empty means all. */
  only: readonly string[];
  profile: string;
  jobs?: number;
  seed?: number;
  /** `name` or `name:path`; the report for people when empty. */
  reporters: readonly string[];
  out?: string;
  manifest?: string;
  sql?: string;
  release?: string;
  lang: Lang;
  timings: boolean;
  quiet: boolean;
  verbose: boolean;
};

/** The name of the template with the substrate in it. */
export const TEMPLATE = 'substrate';

/** @throws KitError with its exit code; the signal's reason when interrupted. */
export async function gate(options: GateOptions, io: Io): Promise<ExitCode> {
  return (await judgeAll(options, io)).exit.code;
}

/** The same, for who goes on with what was found. */
export async function judgeAll(options: GateOptions, io: Io): Promise<Report> {
  const began = performance.now();
  const startedAt = new Date().toISOString();
  const manifest = await loadManifest(
    resolve(io.cwd, options.manifest ?? join(io.root, 'selftest/dieu45.yaml')),
  );
  const profile = profileOf(manifest, options.profile);
  const selected = select(manifest, profile, options.only);
  const sqlDir = resolve(io.cwd, options.sql ?? join(manifest.root, 'sql'));
  const kit = await packageFacts(io.root);
  const seed = options.seed ?? randomInt(2 ** 31);
  const jobs = options.jobs ?? availableParallelism();
  const targetText = options.target ?? 'embedded';

  const redact = redactor(
    privateTexts({
      root: manifest.root,
      home: homedir(),
      tmp: tmpdir(),
      hostname: hostname(),
      target: targetText,
    }),
  );

  await using bundle =
    options.out === undefined ? undefined : await openBundle(resolve(io.cwd, options.out), redact);
  const reporters = openReporters(options, io, {
    heading: heading(manifest, selected, { ...options, target: targetText, seed }),
    reproduce: (checkId) => reproduceCommand(io.self, checkId, seed, options),
  });
  const onAbort = (): void => void sayCleaning(reporters, io);
  io.signal.addEventListener('abort', onAbort, { once: true });
  try {
    const outcome = await runChecks({
      selected,
      target: openTarget(targetText, {
        env: io.env,
        tmpDir: tmpdir(),
        root: io.root,
        reuseRoles: options.reuseRoles ?? false,
        progress: (text) => {
          reporters.onEvent({ is: 'phase', text });
        },
      }),
      root: manifest.root,
      prepare: (server) => buildTemplate(server, sqlDir),
      template: TEMPLATE,
      kinds,
      release: options.release ?? manifest.document.release,
      seed,
      exhaustive: profile.exhaustive,
      jobs,
      signal: io.signal,
      onEvent: reporters.onEvent,
      ...(bundle && {
        keep: (task, { check, name, path }) =>
          bundle.keep(check ?? task.specs[0]?.id ?? task.kind, name, path),
      }),
    });
    await reporters.stop();
    const found = reportOf({
      document: manifest.document,
      profile: options.profile,
      only: options.only,
      exitCode: exitOf(outcome.clauses, profile),
      clauses: outcome.clauses,
      leftOut: new Map(selected.map(({ clause, leftOut }) => [clause.id, leftOut])),
      run: {
        startedAt,
        elapsedMs: Math.round(performance.now() - began),
        target: publicTargetName(targetText),
        ...serverVersionOf(outcome),
        seed,
        jobs,
        kit: kit.version,
        node: nodeVersion,
        platform: `${platform()}-${arch()}`,
        spans: outcome.spans,
      },
    });
    const report = redactDeep(found, redact);
    const unwritten = await writeBundle(bundle, report);
    await reporters.end(report);
    if (unwritten !== undefined) {
      // What was found stands above what could not be written, unless that says more (70 before 3, 2, 0).
      if (worstExit([report.exit.code, exits.kit]) === exits.kit) throw unwritten;
      io.err.write(`dieu45: ${unwritten.message}\n`);
    }
    return report;
  } finally {
    io.signal.removeEventListener('abort', onAbort);
    await reporters.stop();
  }
}

/** The error when the evidence cannot be written: a full disk must not swallow the verdict. */
async function writeBundle(
  bundle: Bundle | undefined,
  report: Report,
): Promise<KitError | undefined> {
  try {
    await bundle?.write('report.json', toJson(report));
    await bundle?.commit();
    return undefined;
  } catch (error) {
    return new KitError(
      exits.kit,
      `the evidence cannot be written: ${messageOf(error)}`,
      'make room, or name another folder with --out',
    );
  }
}

/** Below the live lines, never through them. */
async function sayCleaning(reporters: Reporters, io: Io): Promise<void> {
  await reporters.stop();
  io.err.write('\ninterrupted: stopping the server and removing its files; again leaves at once\n');
}

/** pgTAP first: it must not depend on anything of the substrate. */
/** Builds the template that every sandbox is cloned from. */
export async function buildTemplate(server: Server, sqlDir: string): Promise<void> {
  await server.template(TEMPLATE, async (session) => {
    if (server.can.has('pgtap')) await installPgtap(session);
    await installSubstrate(session, sqlDir);
  });
}

/** `dieu45 1.0 · profile ci · 113 checks of 17 clauses · embedded · seed 1`. */
function heading(
  { document: { id, version } }: Manifest,
  selected: readonly SelectedClause[],
  {
    profile,
    target,
    seed,
    lang,
  }: Pick<GateOptions, 'profile' | 'lang'> & { target: string; seed: number },
): string {
  const words = wordsOf(lang);
  const checks = selected.reduce((sum, { specs }) => sum + specs.length, 0);
  return [
    `${id} ${version}`,
    `${words.profile} ${profile}`,
    `${counted(checks, 'check', lang)} ${words.of} ${counted(selected.length, 'clause', lang)}`,
    publicTargetName(target),
    `${words.seed} ${seed}`,
  ].join(' · ');
}

/** 170010 → `17.10`. */
function serverVersionOf({ serverVersionNum }: RunOutcome): { serverVersion?: string } {
  if (serverVersionNum === undefined) return {};
  return { serverVersion: `${Math.floor(serverVersionNum / 10_000)}.${serverVersionNum % 10_000}` };
}
