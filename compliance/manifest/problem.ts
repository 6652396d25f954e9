import { KitError } from '../errors.ts';
import type { Where } from '../types.ts';

/** One mistake in a data file: where it is, what is wrong, and what was probably meant. */
export type Problem = Where & { message: string };

/** `file:line:col: message`, as editors and terminals make it a link. */
export function formatProblem(problem: Problem): string {
  return `${problem.file}:${problem.line}:${problem.col}: ${oneLine(problem.message)}`;
}

/** What a file quotes may hold line ends and worse; a problem stays one line. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, (char) =>
    char === '\n' ? '\\n' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** All problems in the order of the file, each place and text once. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  const byText = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...byText.values()].sort((a, b) => a.line - b.line || a.col - b.col);
}

/** Nothing when there is no problem; otherwise one error whose message has a line for each. */
export function refuseProblems(problems: readonly Problem[], exitCode = 65): void {
  if (problems.length === 0) return;
  throw new KitError(exitCode, sortProblems(problems).map(formatProblem).join('\n'));
}
