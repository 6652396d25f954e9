/** A report as a flat list of test cases, which is how JUnit, CTRF and TAP see the world. Pure. */
import { checkText, gapText } from './failures.ts';
import type { CheckReport, ClauseReport, Report } from './report.ts';
import { statusWord } from './words.ts';

/** One check; or, for a clause without any check, the gap itself. */
export type Case = {
  id: string;
  title: string;
  clause: ClauseReport;
  check?: CheckReport;
  outcome: 'passed' | 'failed' | 'error' | 'skipped';
  /** The status that the outcome stands for. */
  status: string;
  /** One line; empty when passed. */
  message: string;
  /** All there is to say, for people; empty when passed or skipped. */
  detail: string;
  elapsedMs: number;
};

/** Every check of the report in its order, gaps included: what is missing must show everywhere. */
export function casesOf(report: Report): Case[] {
  return report.clauses.flatMap((clause) => [
    ...(clause.status === 'error' && clause.checks.length === 0 ? [gapOf(clause)] : []),
    ...clause.checks.map((check) => caseOf(report, clause, check)),
  ]);
}

function gapOf(clause: ClauseReport): Case {
  const message = gapText();
  return {
    id: clause.id,
    title: clause.title.en,
    clause,
    outcome: 'error',
    status: 'error',
    message,
    detail: message,
    elapsedMs: 0,
  };
}

function caseOf(report: Report, clause: ClauseReport, check: CheckReport): Case {
  const outcome = outcomeOf(clause, check);
  const word = statusWord(check.status, 'en');
  const [reason = ''] = check.reasons;
  return {
    id: check.id,
    title: check.title,
    clause,
    check,
    outcome,
    status: clause.status === 'waived' && outcome === 'skipped' ? 'waived' : check.status,
    message: outcome === 'passed' ? '' : firstLine(`${word}: ${reason}`),
    detail: outcome === 'failed' || outcome === 'error' ? checkText(clause, check) : '',
    elapsedMs: report.measured[check.id]?.elapsedMs ?? 0,
  };
}

/** Unknown is an error to formats that have no word for it: it must never look green. */
function outcomeOf(clause: ClauseReport, { status }: CheckReport): Case['outcome'] {
  switch (status) {
    case 'passed':
      return 'passed';
    case 'not_applicable':
    case 'not_reviewed':
      return 'skipped';
    case 'failed':
      return clause.status === 'waived' ? 'skipped' : 'failed';
    case 'error':
    case 'unknown':
      return clause.status === 'waived' ? 'skipped' : 'error';
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
