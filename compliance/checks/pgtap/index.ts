/**
 * The check kind `pgtap`: one file-style pgTAP suite, one session, one transaction.
 *
 * Each test's description begins with the clause that it speaks for (`s8.3: …`); that is how one
 * suite serves several checks. Descriptions of clauses that were not asked for are left aside.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CoverageError } from '../../errors.ts';
import type { CheckSpec, Observation, RunCheck } from '../../types.ts';
import { missingContractObject } from '../missing.ts';
import { readDiagnostics } from './diagnostics.ts';
import { readScript, showWhere } from './script.ts';
import { runSuite, type Stopped, type SuiteRun } from './suite.ts';
import type { TapTest } from './tap.ts';

/** @throws CoverageError when the suite broke off, or its plan was missing, short, exceeded or empty. */
export const run: RunCheck = async function* (task, sandbox, given) {
  const steps = await readScript(task.file, given.root);
  await using session = await sandbox.session('pgtap');
  const suite = await runSuite(session.client, steps, {
    signal: given.signal,
    onLine: (line) => {
      if (/^(?:not )?ok\b/.test(line)) given.progress(line);
    },
  });
  yield await keepTap(suite, given.scratch, task.file);
  for (const test of suite.report.tests) yield* observe(test, task.specs);
  if (suite.stopped) {
    const missing = missingContractObject(suite.stopped.code, suite.stopped.message);
    if (missing !== undefined) {
      yield {
        is: 'assertion',
        name: missing,
        ok: false,
        seen: saw(suite.stopped),
        at: suite.stopped.at,
      };
      return;
    }
    throw new CoverageError(`${saw(suite.stopped)}; the rest of the suite did not run`);
  }
  const problems = allProblems(suite);
  if (problems.length > 0) throw new CoverageError(`${task.file}: ${problems.join('; ')}`);
};

/** The clause that a description speaks for: `s8.3` of `s8.3: a renewal never shortens`. */
export function clauseOf(description: string): string | undefined {
  return /^([a-z][a-z0-9_]*(?:\.\d+)*): /.exec(description)?.[1];
}

function* observe(test: TapTest, specs: readonly CheckSpec[]): Generator<Observation> {
  if (test.excused) return;
  const clause = clauseOf(test.name);
  for (const spec of specs) {
    if (spec.clause !== clause) continue;
    const told = test.ok ? { trace: [] } : readDiagnostics(test.diagnostics);
    yield {
      check: spec.id,
      is: 'assertion',
      name: test.name.slice(clause.length + 2),
      ok: test.ok,
      at: test.at,
      ...told,
    };
  }
}

function allProblems({ report }: SuiteRun): readonly string[] {
  const nameless = report.tests.find(({ name }) => clauseOf(name) === undefined);
  return [
    ...report.problems,
    ...(report.skippedAll === undefined
      ? []
      : [`the plan is 1..0 (${report.skippedAll}): nothing was tested`]),
    ...report.tests.flatMap(excuses),
    ...(report.planCameLast ? ['the plan came last: it cannot tell which test never ran'] : []),
    ...(nameless
      ? [`test ${nameless.id} at ${showWhere(nameless.at)} names no clause: "${nameless.name}"`]
      : []),
  ];
}

function excuses({ id, excused }: TapTest): string[] {
  if (!excused) return [];
  const reason = excused.reason ? `: ${excused.reason}` : '';
  return [`test ${id} is marked ${excused.as.toUpperCase()}${reason}`];
}

function saw({ at, code, message }: Stopped): string {
  return `${showWhere(at)}: ${message} (SQLSTATE ${code})`;
}

async function keepTap(suite: SuiteRun, scratch: string, file: string): Promise<Observation> {
  const name = `${path.basename(file, '.sql')}.tap`;
  const kept = path.join(scratch, name);
  await writeFile(kept, `${suite.output.join('\n')}\n`);
  return { is: 'file', name, path: kept };
}
