/** TAP version 14, a test point a check, with a YAML block where something is wrong. Pure. */
import { stringify } from 'yaml';
import { type Case, casesOf } from './cases.ts';
import type { Report } from './report.ts';

export function toTap(report: Report): string {
  const cases = casesOf(report);
  // A plan of 0 is a pass to most readers; a run that judged nothing is none.
  const plan = cases.length === 0 ? ['Bail out! nothing was judged'] : [`1..${cases.length}`];
  return [
    'TAP version 14',
    ...plan,
    ...cases.flatMap((one, index) => pointOf(one, index + 1)),
    '',
  ].join('\n');
}

function pointOf(one: Case, number: number): string[] {
  const good = one.outcome === 'passed' || one.outcome === 'skipped';
  const name = escaped(`${one.id} ${one.title}`);
  const point = `${good ? 'ok' : 'not ok'} ${number} - ${name}`;
  if (one.outcome === 'skipped') return [`${point} # SKIP ${escaped(one.message)}`];
  return good ? [point] : [point, ...diagnosis(one)];
}

function diagnosis(one: Case): string[] {
  const block = stringify({ status: one.status, message: one.message, detail: one.detail });
  return ['---', ...block.trimEnd().split('\n'), '...'].map((line) => `  ${line}`);
}

/** `#` begins a directive, and a line end the next line. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('#', '\\#')
    .replace(/\s*\n\s*/g, ' ');
}
