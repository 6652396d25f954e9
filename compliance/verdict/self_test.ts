/** What became of each key of a self_test block, by the report of a run (clauses.md, `self_test`). Pure. */
import type { Report } from '../report/report.ts';
import type { SelfTestKey } from '../types.ts';
import { type ExitCode, exits, worstExit } from './exit.ts';

export type KeyStatus = 'proven' | 'refuted' | 'error' | 'not_reviewed' | 'not_applicable';
export type KeyAnswer = {
  key: string;
  claim: string;
  status: KeyStatus;
  /** Each check that speaks of the key, with its status; or why nothing does. */
  because: string[];
};

/** One answer a key of the document, in its order. A key that the manifest does not bind is not reviewed. */
export function answerKeys(
  claims: readonly { key: string; claim: string }[],
  bound: Readonly<Record<string, SelfTestKey>>,
  report: Pick<Report, 'clauses'>,
): KeyAnswer[] {
  return claims.map(({ key, claim }) => {
    const binding = bound[key];
    if (binding === undefined) {
      return {
        key,
        claim,
        status: 'not_reviewed',
        because: ['the manifest binds no check to this key'],
      };
    }
    if ('notApplicable' in binding) {
      return { key, claim, status: 'not_applicable', because: [binding.notApplicable] };
    }
    const checks = binding.provenBy.flatMap((id) => checksOf(id, report));
    return {
      key,
      claim,
      status: statusOf(checks.map(({ status }) => status)),
      because: checks.map(({ id, status }) => `${id}: ${status}`),
    };
  });
}

/** The checks that an id stands for: itself, or those of a clause. Without any, nothing was proven. */
function checksOf(
  id: string,
  { clauses }: Pick<Report, 'clauses'>,
): { id: string; status: string }[] {
  const checks = clauses
    .flatMap((clause) => clause.checks.map((check) => ({ clause: clause.id, check })))
    .filter(({ clause, check }) => clause === id || check.id === id)
    .map(({ check }) => ({ id: check.id, status: check.status }));
  return checks.length > 0 ? checks : [{ id, status: 'not_reviewed' }];
}

function statusOf(statuses: readonly string[]): KeyStatus {
  if (statuses.includes('failed')) return 'refuted';
  if (statuses.includes('error')) return 'error';
  const counted = statuses.filter((status) => status !== 'not_applicable');
  if (counted.length === 0) return 'not_applicable';
  return counted.every((status) => status === 'passed') ? 'proven' : 'not_reviewed';
}

/** 1 when a key is refuted, 70 when a check broke, 2 when something is not reviewed, 0 otherwise. */
export function exitOfKeys(answers: readonly KeyAnswer[]): ExitCode {
  const codes: Readonly<Record<KeyStatus, ExitCode>> = {
    proven: exits.passed,
    not_applicable: exits.passed,
    refuted: exits.failed,
    error: exits.kit,
    not_reviewed: exits.unproven,
  };
  return worstExit(answers.map(({ status }) => codes[status]));
}
