/**
 * JUnit XML, as CI servers read it: a suite a clause, a case a check. Some converters count an empty
 * `<failure>` as passed, so each carries its text; unknown is an `<error>`. Pure.
 */
import { create } from 'xmlbuilder2';
import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces.js';
import { type Case, casesOf } from './cases.ts';
import type { ClauseReport, Report } from './report.ts';

export function toJunit(report: Report): string {
  const cases = casesOf(report);
  const document = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\uFFFD' });
  const suites = document.ele('testsuites', {
    name: `${report.document.id} ${report.document.version}`,
    ...counts(cases),
    time: seconds(report.run.elapsedMs),
  });
  for (const clause of report.clauses) {
    const own = cases.filter((one) => one.clause === clause);
    if (own.length > 0) addSuite(suites, clause, own, report.run.startedAt);
  }
  return `${document.end({ prettyPrint: true })}\n`;
}

function addSuite(
  suites: XMLBuilder,
  clause: ClauseReport,
  cases: readonly Case[],
  timestamp: string,
): void {
  const suite = suites.ele('testsuite', {
    name: `${clause.label} ${clause.title.en}`,
    ...counts(cases),
    time: seconds(cases.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0)),
    // The schema wants a time without zone; it is UTC.
    timestamp: timestamp.slice(0, 19),
  });
  for (const one of cases) addCase(suite, one);
}

function addCase(suite: XMLBuilder, one: Case): void {
  const element = suite.ele('testcase', {
    classname: one.clause.id,
    name: `${one.id} ${one.title}`,
    time: seconds(one.elapsedMs),
    ...(one.check === undefined || one.check.file === '' ? {} : { file: one.check.file }),
  });
  if (one.outcome === 'failed' || one.outcome === 'error')
    element
      .ele(one.outcome === 'failed' ? 'failure' : 'error', {
        message: one.message,
        type: one.status,
      })
      .txt(one.detail);
  if (one.outcome === 'skipped') element.ele('skipped', { message: one.message });
}

function counts(
  cases: readonly Case[],
): Record<'tests' | 'failures' | 'errors' | 'skipped', string> {
  const count = (outcome: Case['outcome']): string =>
    String(cases.filter((one) => one.outcome === outcome).length);
  return {
    tests: String(cases.length),
    failures: count('failed'),
    errors: count('error'),
    skipped: count('skipped'),
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
