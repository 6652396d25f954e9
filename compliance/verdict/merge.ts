/** From checks to clauses: the worst status wins (kit.md, "Verdicts"). Pure. */
import type { CheckResult, CheckStatus, Clause, ClauseResult, ClauseStatus } from '../types.ts';

/** Worst first; not_applicable last, because it is ignored unless it is all there is. */
const worstFirst: readonly CheckStatus[] = [
  'failed',
  'error',
  'unknown',
  'not_reviewed',
  'passed',
  'not_applicable',
];

/** The worst of these statuses; undefined when there is none. */
export function worstStatus(statuses: Iterable<CheckStatus>): CheckStatus | undefined {
  const present = new Set(statuses);
  return worstFirst.find((status) => present.has(status));
}

/**
 * The status of a clause from the checks that were selected for this run. A clause that the manifest
 * gives no check at all is a coverage gap, and so an error; one whose checks were all left out of
 * the run is not reviewed. `override` is a waiver or an attestation in force.
 */
export function mergeClause(
  clause: Clause,
  checks: readonly CheckResult[],
  override?: 'waived' | 'attested',
): ClauseResult {
  return { clause, status: override ?? statusOf(clause, checks), checks };
}

function statusOf(clause: Clause, checks: readonly CheckResult[]): ClauseStatus {
  if (clause.notApplicable !== undefined) return 'not_applicable';
  if (clause.checks.length === 0) return 'error';
  return worstStatus(checks.map(({ verdict }) => verdict.status)) ?? 'not_reviewed';
}

/** How many checks came out how, in the three words of the last line. */
export type Totals = { passed: number; failed: number; skipped: number };

/** Counts checks: failed = failed + error + unknown; skipped = not_applicable + not_reviewed + waived. */
export function totalsOf(clauses: readonly ClauseResult[]): Totals {
  const totals: Totals = { passed: 0, failed: 0, skipped: 0 };
  for (const { status, checks } of clauses)
    for (const { verdict } of checks) totals[columnOf(verdict.status, status)] += 1;
  return totals;
}

function columnOf(check: CheckStatus, clause: ClauseStatus): keyof Totals {
  switch (check) {
    case 'passed':
      return 'passed';
    case 'not_applicable':
    case 'not_reviewed':
      return 'skipped';
    case 'failed':
    case 'error':
    case 'unknown':
      return clause === 'waived' ? 'skipped' : 'failed';
  }
}

/** The very last line of standard output, in every command that counts. */
export function lastLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
