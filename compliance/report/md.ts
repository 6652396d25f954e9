/**
 * Markdown for a pull request or a job summary. GitHub drops a summary over 1 MiB whole, so the
 * details are cut before that, and say so. Pure.
 */
import { lastLine } from '../verdict/merge.ts';
import { casesOf } from './cases.ts';
import type { ClauseReport, Report } from './report.ts';
import { duration, symbols } from './style.ts';
import { statusWord } from './words.ts';

/** Below 1 MiB, with room for what else stands in the same summary. */
const MOST_BYTES = 1_000_000;

export function toMarkdown(report: Report, mostBytes = MOST_BYTES): string {
  const { document, exit, run } = report;
  const facts = [
    `profile ${report.profile}`,
    ...(run.serverVersion === undefined ? [] : [`PostgreSQL ${run.serverVersion}`]),
    duration(run.elapsedMs),
    `seed ${run.seed}`,
  ].join(' · ');
  const head = [
    `## ${cell(document.id)} ${cell(document.version)}: ${exit.meaning}`,
    '',
    facts,
    '',
    '| | Clause | | Status | Checks |',
    '|---|---|---|---|---|',
    ...report.clauses.map(row),
    '',
    `**${lastLine(report.totals)}**`,
    '',
  ].join('\n');
  return withDetails(head, report, mostBytes);
}

function row(clause: ClauseReport): string {
  const { status, label, title, checks } = clause;
  const passed = checks.filter((check) => check.status === 'passed').length;
  const counts = checks.length === 0 ? '' : `${passed} of ${checks.length} passed`;
  const cells = [symbols[status], cell(label), cell(title.en), statusWord(status, 'en'), counts];
  return `| ${cells.join(' | ')} |`;
}

function withDetails(head: string, report: Report, mostBytes: number): string {
  const note = '\nThe rest is cut here; the JSON report has everything.\n';
  const room = mostBytes - Buffer.byteLength(note);
  let text = head;
  for (const { id, message, detail } of casesOf(report)) {
    if (detail === '') continue;
    const block = details(id, message, detail);
    if (Buffer.byteLength(text) + Buffer.byteLength(block) > room) return text + note;
    text += block;
  }
  return text;
}

function details(id: string, message: string, detail: string): string {
  // The fence is longer than any run of backticks inside it.
  const longest = Math.max(2, ...(detail.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `\n<details><summary>${html(id)}: ${html(message)}</summary>\n\n${fence}text\n${detail}\n${fence}\n\n</details>\n`;
}

function cell(text: string): string {
  return html(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function html(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
