/** A run as TAP 14: a subtest a file, so that what a file's plan says stays checked by whoever reads. Pure. */
import { outcomeOfFile, type FileResult } from './result.ts';

const TAP_LINE = /^(?:(?:not )?ok\b|1\.\.\d+|#|Bail out!)/;

export function toTap(results: readonly FileResult[]): string {
  return [
    'TAP version 14',
    `1..${results.length}`,
    ...results.flatMap((result, i) => fileOf(result, i + 1)),
    '',
  ].join('\n');
}

function fileOf(result: FileResult, number: number): string[] {
  const outcome = outcomeOfFile(result);
  const skip = outcome === 'skipped' ? ` # SKIP ${result.skipped ?? ''}`.trimEnd() : '';
  return [
    `# Subtest: ${result.file}`,
    // Rows of fixtures are no TAP, and nobody wants them here.
    ...result.output.filter((line) => TAP_LINE.test(line)).map((line) => `    ${line}`),
    `${outcome === 'failed' ? 'not ok' : 'ok'} ${number} - ${result.file.replaceAll('#', '\\#')}${skip}`,
    ...result.problems.flatMap((problem) => problem.split('\n').map((line) => `# ${line}`)),
  ];
}
