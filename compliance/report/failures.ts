/** The failures of a run in full: what was expected, what was seen, and how to see it again. Pure. */
import type { Lang, Where } from '../types.ts';
import type { AssertionReport, CheckReport, ClauseReport, Report } from './report.ts';
import { type Style, styleOf, symbols, visible } from './style.ts';
import { statusWord, wordsOf, type Words } from './words.ts';

export type FailureOptions = {
  lang: Lang;
  style: Style;
  /** The command that runs one check again; it is shown where given. */
  reproduce?: (checkId: string) => string;
  /** How many broken assertions of one check are shown. */
  most: number;
};

/** A block for each check that is failed, error or unknown, and for each clause without a check. */
export function failureBlocks(report: Report, options: FailureOptions): string[] {
  return report.clauses.flatMap((clause) => [
    ...(isGap(clause) ? [gapBlock(clause, options)] : []),
    ...(clause.status === 'waived' ? [] : clause.checks.filter(isBroken)).map((check) =>
      checkBlock(clause, check, options),
    ),
  ]);
}

function isGap(clause: ClauseReport): boolean {
  return clause.status === 'error' && clause.checks.length === 0;
}

function isBroken({ status }: CheckReport): boolean {
  return status === 'failed' || status === 'error' || status === 'unknown';
}

function gapBlock(clause: ClauseReport, { lang, style }: FailureOptions): string {
  const head = `${symbols.error} ${clause.label} ${clause.title[lang]}`;
  return `${style.status('error', head)}\n  ${wordsOf(lang).noCheck}\n`;
}

function checkBlock(clause: ClauseReport, check: CheckReport, options: FailureOptions): string {
  const { lang, style, most } = options;
  const words = wordsOf(lang);
  const broken = check.assertions.filter(({ ok }) => !ok);
  // The reasons of broken assertions are told by the assertions themselves, with more.
  const others = check.reasons.slice(broken.length);
  const reasons = check.status === 'failed' ? others : check.reasons;
  const hidden = broken.length - most;
  return [
    style.status(
      check.status,
      `${symbols[check.status]} ${check.id}  ${statusWord(check.status, lang)}`,
    ),
    `  ${clause.label} ${clause.title[lang]} · ${check.title}`,
    ...broken.slice(0, most).flatMap((one) => assertionLines(one, style, words)),
    ...(hidden > 0 ? [`  … ${hidden} ${words.more}`] : []),
    ...reasons.flatMap((reason) => indented(reason, '  ')),
    field(words.stated, placeOf(check.at), style),
    ...(options.reproduce === undefined
      ? []
      : [field(words.reproduce, options.reproduce(check.id), style)]),
    '',
  ].join('\n');
}

/** The same as plain text, all of it, for reports that machines read. */
export function checkText(clause: ClauseReport, check: CheckReport): string {
  const plain = { lang: 'en', style: styleOf(false), most: Infinity } as const;
  return checkBlock(clause, check, plain).trimEnd();
}

/** What is wrong with a clause that has no check. */
export function gapText(): string {
  return wordsOf('en').noCheck;
}

function assertionLines(one: AssertionReport, style: Style, words: Words): string[] {
  return [
    ...indented(one.name, '  ').map((line) => style.bold(line)),
    ...(one.expected === undefined ? [] : [field(words.expected, one.expected, style)]),
    ...(one.seen === undefined ? [] : [field(words.seen, one.seen, style)]),
    ...(one.trace === undefined || one.trace.length === 0
      ? []
      : [field(words.trace, one.trace.join('\n'), style)]),
    ...(one.at === undefined ? [] : [field(words.at, placeOf(one.at), style)]),
  ];
}

/** A name and a value; further lines of the value stand under its first. */
function field(name: string, value: string, style: Style): string {
  const head = `    ${name.padEnd(12)}`;
  const [first = '', ...rest] = visible(value).split('\n');
  return [style.dim(head) + first, ...rest.map((line) => ' '.repeat(head.length) + line)].join(
    '\n',
  );
}

function indented(text: string, by: string): string[] {
  return visible(text)
    .split('\n')
    .map((line) => by + line);
}

/** `file:line:col`, which editors and terminals open at a click. */
export function placeOf({ file, line, col }: Where): string {
  return `${file}:${line}:${col}`;
}
