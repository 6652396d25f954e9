/** What a person reads about a clause: its line, and in full what went wrong. Pure. */
import type { CheckResult, Clause, ClauseResult, Lang } from '../types.ts';
import { taskKey } from '../run/plan.ts';
import type { SelectedClause } from '../run/select.ts';
import { duration, fit, symbols, type Style, widthOf } from './style.ts';
import { counted, statusWord, wordsOf } from './words.ts';

/** How lines are laid out, once for a whole list, so that columns stand under each other. */
export type Layout = {
  lang: Lang;
  style: Style;
  width: number;
  label: number;
  title: number;
  status: number;
};

/** Enough for the status column in either language. */
const STATUS_COLUMNS = 14;
/** What the counts usually need; a narrow terminal has room for the first of them only. */
const COUNT_COLUMNS = 40;
const FEW_COUNT_COLUMNS = 10;
const NARROW = 90;
const LEAST_TITLE_COLUMNS = 12;

export function layoutOf(
  selected: readonly SelectedClause[],
  how: { lang: Lang; style: Style; width: number },
): Layout {
  const longest = (texts: readonly string[]): number => Math.max(0, ...texts.map(widthOf));
  const label = longest(selected.map(({ clause }) => clause.label));
  const title = longest(selected.map(({ clause }) => clause.title[how.lang]));
  const counts = how.width < NARROW ? FEW_COUNT_COLUMNS : COUNT_COLUMNS;
  const room = how.width - label - STATUS_COLUMNS - counts - 8;
  return {
    ...how,
    label,
    title: Math.min(title, Math.max(LEAST_TITLE_COLUMNS, room)),
    status: STATUS_COLUMNS,
  };
}

/** `✓ §8.3  Lease  passed  7 checks · 412 assertions · 0.8 s`, cut to the width. */
export function clauseLine(result: ClauseResult, layout: Layout): string {
  const { style, lang, width } = layout;
  const { status } = result;
  const name = nameOf(result.clause, layout);
  const word = fit(statusWord(status, lang), layout.status);
  if (width < widthOf(name) + widthOf(word.trimEnd()) + 4)
    return style.status(status, fit(`${symbols[status]} ${name}`, width));
  const room = width - widthOf(name) - layout.status - 6;
  const counts = room < 8 ? '' : fitParts(countsOf(result, lang), room);
  return [
    `${style.status(status, symbols[status])} ${name}`,
    style.status(status, counts === '' ? word.trimEnd() : word),
    ...(counts === '' ? [] : [style.dim(counts)]),
  ].join('  ');
}

/** `§8.3  Lease  3 of 7 checks · killing worker 2`: a clause while its checks run. */
export function runningLine(clause: Clause, counts: string, layout: Layout): string {
  const name = nameOf(clause, layout);
  const room = layout.width - widthOf(name) - 6;
  if (room < 4) return fit(name, layout.width - 4).trimEnd();
  return `${name}  ${layout.style.dim(fit(counts, room).trimEnd())}`;
}

function nameOf({ label, title }: Clause, layout: Layout): string {
  return `${fit(label, layout.label)}  ${fit(title[layout.lang], layout.title)}`;
}

/** `7 checks · 412 assertions · 0.8 s`, and how many are planned. */
export function countsOf({ clause, checks }: ClauseResult, lang: Lang): string {
  const words = wordsOf(lang);
  if (clause.notApplicable !== undefined) return clause.notApplicable;
  if (clause.checks.length === 0) return words.noCheck;
  const planned = checks.filter(({ spec }) => spec.planned !== undefined).length;
  const leftOut = checks.length === 0 ? clause.checks.length : 0;
  const asserted = checks.flatMap((check) => check.observations).filter(isAssertion).length;
  const elapsedMs = elapsedOf(checks);
  return [
    counted(checks.length, 'check', lang),
    ...(leftOut === 0 ? [] : [`${leftOut} ${words.leftOut}`]),
    ...(planned === 0 ? [] : [`${planned} ${words.planned}`]),
    ...(asserted === 0 ? [] : [counted(asserted, 'assertion', lang)]),
    ...(elapsedMs === 0 ? [] : [duration(elapsedMs)]),
  ].join(' · ');
}

/** As many whole parts as fit; a single part that does not is cut. */
function fitParts(text: string, columns: number): string {
  const parts = text.split(' · ');
  while (parts.length > 1 && widthOf(parts.join(' · ')) > columns) parts.pop();
  return fit(parts.join(' · '), columns).trimEnd();
}

/** Time spent on checks; those that shared one execution count once. */
function elapsedOf(checks: readonly CheckResult[]): number {
  const byTask = new Map(checks.map((check) => [taskKey(check.spec), check.elapsedMs]));
  return [...byTask.values()].reduce((sum, ms) => sum + ms, 0);
}

function isAssertion({ is }: { is: string }): boolean {
  return is === 'assertion';
}
