/** A run as JUnit XML: a suite a file, a case a test; a file's problem is a case of its own. Pure. */
import { create } from 'xmlbuilder2';
import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces.js';
import type { TapTest } from '../checks/pgtap/tap.ts';
import { countsOf, outcomeOfTest, type FileResult } from './result.ts';

export function toJunit(results: readonly FileResult[]): string {
  const document = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\uFFFD' });
  const suites = document.ele('testsuites', { name: 'pgtap-runner', ...attributes(results) });
  for (const result of results) addFile(suites, result);
  return `${document.end({ prettyPrint: true })}\n`;
}

function addFile(suites: XMLBuilder, result: FileResult): void {
  const suite = suites.ele('testsuite', { name: result.file, ...attributes([result]) });
  for (const test of result.tests) addTest(suite, result.file, test);
  for (const problem of result.problems) {
    suite
      .ele('testcase', { classname: result.file, name: 'the file as a whole', time: '0' })
      .ele('error', { message: firstLine(problem), type: 'error' })
      .txt(problem);
  }
  if (result.skipped !== undefined) {
    suite
      .ele('testcase', { classname: result.file, name: 'the file as a whole', time: '0' })
      .ele('skipped', { message: result.skipped });
  }
}

function addTest(suite: XMLBuilder, file: string, test: TapTest): void {
  const element = suite.ele('testcase', {
    classname: file,
    name: test.name === '' ? `test ${test.id}` : test.name,
    file: test.at.file,
    line: String(test.at.line),
    time: '0',
  });
  const outcome = outcomeOfTest(test);
  if (outcome === 'skipped') element.ele('skipped', { message: test.excused?.reason ?? '' });
  if (outcome !== 'failed') return;
  // Some converters count a failure without a text as passed.
  const text = [`${test.at.file}:${test.at.line}`, ...test.diagnostics].join('\n');
  element.ele('failure', { message: test.name, type: 'failed' }).txt(text);
}

function attributes(results: readonly FileResult[]): Record<string, string> {
  const { passed, failed, skipped } = countsOf(results);
  const errors = results.reduce((sum, { problems }) => sum + problems.length, 0);
  return {
    tests: String(passed + failed + skipped),
    failures: String(failed - errors),
    errors: String(errors),
    skipped: String(skipped),
    time: (results.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0) / 1000).toFixed(3),
  };
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
