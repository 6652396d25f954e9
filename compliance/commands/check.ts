/** `check`: every mistake in the manifest and in the Council's decisions, or what they hold. */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { KitError } from '../errors.ts';
import { loadManifest, readManifest } from '../manifest/load.ts';
import { loadRatified, type Ratification } from '../manifest/ratified.ts';
import type { Manifest } from '../types.ts';
import { type ExitCode, exits, worstExit } from '../verdict/exit.ts';
import type { Io } from './io.ts';
import { manifestPath, ratifiedPath } from './manifest_path.ts';

/**
 * Problems go to standard error, a line each, as `file:line:col: message`.
 *
 * @returns 0; 65 for mistakes; 3 where a clause has no check, or its text is not the reviewed one.
 * @throws KitError 64 when there is no such file.
 */
export async function check(options: { manifest?: string }, io: Io): Promise<ExitCode> {
  const path = manifestPath(options, io);
  const manifest = await lookAt(() => readManifest(path), io);
  // Without a manifest the clauses of a decision cannot be known, so it is looked at afterwards.
  if (manifest === undefined) return exits.manifest;
  const decisionsPath = ratifiedPath(path);
  const ids = manifest.clauses.map(({ id }) => id);
  const decisions = existsSync(decisionsPath)
    ? await lookAt(() => loadRatified(decisionsPath, ids), io)
    : [];
  const reviewed = await lookAt(() => loadManifest(path), io);
  const gaps = coverageGaps(manifest);
  for (const gap of gaps) io.err.write(`${gap}\n`);
  if (decisions === undefined || reviewed === undefined || gaps.length > 0) {
    return worstExit([
      ...(decisions === undefined ? [exits.manifest] : []),
      ...(reviewed === undefined || gaps.length > 0 ? [exits.coverage] : []),
    ]);
  }
  io.out.write(`${summaryOf(manifest)}\n`);
  if (decisions.length > 0) {
    io.out.write(`${relative(manifest.root, decisionsPath)}: ${questionsOf(decisions)}\n`);
  }
  return exits.passed;
}

/** What was read, or undefined when it has problems: they are written. */
async function lookAt<Value>(read: () => Promise<Value>, io: Io): Promise<Value | undefined> {
  try {
    return await read();
  } catch (thrown) {
    const problems = [exits.manifest, exits.coverage] as readonly number[];
    if (!(thrown instanceof KitError) || !problems.includes(thrown.exitCode)) throw thrown;
    io.err.write(`${thrown.message}\n`);
    return undefined;
  }
}

/** Clauses that apply and have no entry for a check. */
function coverageGaps({ clauses }: Manifest): string[] {
  return clauses
    .filter(({ checks, notApplicable }) => checks.length === 0 && notApplicable === undefined)
    .map(
      ({ id, at }) =>
        `${at.file}:${at.line}:${at.col}: clause ${id} has no check; add one, at least as planned with the reason`,
    );
}

function summaryOf(manifest: Manifest): string {
  const file = relative(manifest.root, manifest.path);
  const checks = manifest.clauses.flatMap((clause) => clause.checks);
  const planned = checks.filter((spec) => spec.planned !== undefined).length;
  return `${file}: ${manifest.clauses.length} clauses, ${checks.length} checks: ${checks.length - planned} built, ${planned} planned`;
}

function questionsOf(decisions: readonly Ratification[]): string {
  const open = decisions.filter(({ decision }) => decision.is === 'open').length;
  return `${decisions.length} questions: ${decisions.length - open} ratified, ${open} open`;
}
