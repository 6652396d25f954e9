/** Common Test Report Format: one JSON for many CI tools. Pure. */
import type { CTRFReport, Test } from 'ctrf';
import { type Case, casesOf } from './cases.ts';
import type { Report } from './report.ts';

/** What is not green is `failed` here, whatever we call it; our own word stands in `rawStatus`. */
const statuses: Readonly<Record<Case['outcome'], Test['status']>> = {
  passed: 'passed',
  failed: 'failed',
  error: 'failed',
  skipped: 'skipped',
};

export function toCtrf(report: Report): string {
  const tests = casesOf(report).map(testOf);
  const start = Date.parse(report.run.startedAt);
  const count = (status: Test['status']): number =>
    tests.filter((test) => test.status === status).length;
  const ctrf: CTRFReport = {
    reportFormat: 'CTRF',
    specVersion: '0.0.0',
    timestamp: report.run.startedAt,
    generatedBy: `dieu45 ${report.run.kit}`,
    results: {
      tool: { name: 'dieu45', version: report.run.kit },
      summary: {
        tests: tests.length,
        passed: count('passed'),
        failed: count('failed'),
        skipped: count('skipped'),
        pending: 0,
        other: 0,
        suites: report.clauses.length,
        start,
        stop: start + report.run.elapsedMs,
        duration: report.run.elapsedMs,
      },
      tests,
      environment: {
        appName: report.document.id,
        appVersion: report.document.version,
        osPlatform: report.run.platform,
        testEnvironment: report.run.target,
      },
    },
  };
  return `${JSON.stringify(ctrf, undefined, 2)}\n`;
}

function testOf(one: Case): Test {
  return {
    name: `${one.id} ${one.title}`,
    status: statuses[one.outcome],
    duration: one.elapsedMs,
    rawStatus: one.status,
    suite: [`${one.clause.label} ${one.clause.title.en}`],
    ...(one.message === '' ? {} : { message: one.message }),
    ...(one.detail === '' ? {} : { trace: one.detail }),
    ...(one.check === undefined
      ? {}
      : { filePath: one.check.at.file, line: one.check.at.line, tags: [one.check.kind] }),
  };
}
