/** What a person reads of a run: a line a file, and in full what went wrong. Pure. */
import { readDiagnostics } from '../checks/pgtap/diagnostics.ts';
import type { TapTest } from '../checks/pgtap/tap.ts';
import { duration, fit, styleOf, symbols, visible, type Style } from '../report/style.ts';
import { countsOf, outcomeOfFile, outcomeOfTest, type FileResult, type Outcome } from './result.ts';

const STATUS = { passed: 'passed', failed: 'failed', skipped: 'not_applicable' } as const;

export type Look = { style: Style; width: number; verbose: boolean };

export function lookOf(color: boolean, width: number, verbose: boolean): Look {
  return { style: styleOf(color), width, verbose };
}

/** The lines of one file. */
export function fileLines(result: FileResult, { style, width, verbose }: Look): string[] {
  const outcome = outcomeOfFile(result);
  const status = STATUS[outcome];
  const said = `${summary(result, outcome)} · ${duration(result.elapsedMs)}`;
  const name = fit(visible(result.file), Math.max(20, width - said.length - 6)).trimEnd();
  const head = `${style.status(status, symbols[status])} ${name}  ${style.dim(said)}`;
  const tests = result.tests.filter((test) => verbose || outcomeOfTest(test) === 'failed');
  return [
    head,
    ...tests.flatMap((test) => testLines(test, style)),
    ...result.problems.map((problem) => `    ${style.red(visible(problem))}`),
  ];
}

function summary(result: FileResult, outcome: Outcome): string {
  const all = result.tests.length;
  const failed = result.tests.filter((test) => outcomeOfTest(test) === 'failed').length;
  if (outcome === 'skipped')
    return `skipped${result.skipped ? `: ${visible(result.skipped)}` : ''}`;
  if (failed > 0) return `${failed} of ${tests(all)} failed`;
  return outcome === 'failed' ? `broken after ${tests(all)}` : tests(all);
}

function testLines(test: TapTest, style: Style): string[] {
  const outcome = outcomeOfTest(test);
  const mark = style.status(STATUS[outcome], symbols[STATUS[outcome]]);
  const excuse = test.excused ? ` # ${test.excused.as.toUpperCase()} ${test.excused.reason}` : '';
  const head = `    ${mark} ${test.id} ${visible(`${test.name}${excuse}`)}`;
  if (outcome !== 'failed') return [head];
  const { expected, seen, trace } = readDiagnostics(test.diagnostics);
  return [
    head,
    `      ${style.dim(`${test.at.file}:${test.at.line}`)}`,
    ...(expected === undefined ? [] : block('expected', expected)),
    ...(seen === undefined ? [] : block('seen    ', seen)),
    ...trace.map((line) => `      ${visible(line)}`),
  ];
}

function block(label: string, value: string): string[] {
  const [first = '', ...others] = value.split('\n');
  return [
    `      ${label} ${visible(first)}`,
    ...others.map((line) => `               ${visible(line)}`),
  ];
}

/** The last line: `1301 tests in 19 files: 1299 passed, 2 failed, 0 skipped · 12.3 s`. */
export function lastLine(results: readonly FileResult[], elapsedMs: number): string {
  const { passed, failed, skipped } = countsOf(results);
  const files = results.length === 1 ? '1 file' : `${results.length} files`;
  const all = passed + failed + skipped;
  return `${tests(all)} in ${files}: ${passed} passed, ${failed} failed, ${skipped} skipped · ${duration(elapsedMs)}`;
}

function tests(count: number): string {
  return count === 1 ? '1 test' : `${count} tests`;
}
