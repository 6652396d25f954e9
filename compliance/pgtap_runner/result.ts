/** What came of one test file, and what that counts as. Pure. */
import type { TapTest } from '../checks/pgtap/tap.ts';

export type FileResult = {
  /** As people named it. */
  file: string;
  tests: readonly TapTest[];
  /** Why the file cannot count as a complete run, a sentence each: plan, error, time limit. */
  problems: readonly string[];
  /** Set when the file skipped itself whole (`1..0 # SKIP reason`). */
  skipped?: string;
  /** The TAP that it printed. */
  output: readonly string[];
  elapsedMs: number;
};
export type Outcome = 'passed' | 'failed' | 'skipped';

/** A failing TODO is what its author expects; a test that was skipped did not run. */
export function outcomeOfTest({ ok, excused }: TapTest): Outcome {
  if (excused) return excused.as === 'todo' || ok ? 'skipped' : 'failed';
  return ok ? 'passed' : 'failed';
}

export function outcomeOfFile(result: FileResult): Outcome {
  if (result.problems.length > 0) return 'failed';
  if (result.tests.some((test) => outcomeOfTest(test) === 'failed')) return 'failed';
  return result.skipped === undefined ? 'passed' : 'skipped';
}

export type Counts = Readonly<Record<Outcome, number>>;

/** Tests by outcome; a file's problem counts as a failed test, since a test is missing where it stands. */
export function countsOf(results: readonly FileResult[]): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { tests, problems, skipped } of results) {
    for (const test of tests) counts[outcomeOfTest(test)] += 1;
    counts.failed += problems.length;
    if (skipped !== undefined) counts.skipped += 1;
  }
  return counts;
}

/** Whether nothing failed because nothing ran: such a run is no green run. */
export function provedNothing(results: readonly FileResult[]): boolean {
  const { passed, failed } = countsOf(results);
  return failed === 0 && passed === 0;
}

/** Whether the run as a whole proved something and broke nothing. */
export function isGreen(results: readonly FileResult[]): boolean {
  return countsOf(results).failed === 0 && !provedNothing(results);
}
