/** `explain`: what a clause says, what proves it, what does not yet, and how to see it alone. */
import { existsSync } from 'node:fs';
import { changedTexts, readManifest } from '../manifest/load.ts';
import { findNamed, type Named } from '../manifest/names.ts';
import { loadRatified, type Ratification } from '../manifest/ratified.ts';
import { styleOf, type Style } from '../report/style.ts';
import type { CheckSpec, Clause, Lang, Manifest, Where } from '../types.ts';
import { type ExitCode, exits } from '../verdict/exit.ts';
import { explainWords, type ExplainWords } from './explain_words.ts';
import type { Io } from './io.ts';
import { kindWords } from './kind_words.ts';
import { manifestPath, ratifiedPath } from './manifest_path.ts';
import { reproduceCommand } from './reproduce.ts';
import { wrap } from './wrap.ts';

export type ExplainOptions = {
  /** A clause or a check as people type it: `s8.3`, `§8.3`, `8.3`, `Điều 35`, a check id. */
  name: string;
  manifest?: string;
  lang: Lang;
};

/** @throws KitError 64 for a name that the manifest does not have; 64 or 65 when it cannot be read. */
export async function explain(options: ExplainOptions, io: Io): Promise<ExitCode> {
  const path = manifestPath(options, io);
  const manifest = await readManifest(path);
  const named = findNamed(manifest, options.name);
  const decisions = ratifiedPath(path);
  const ids = manifest.clauses.map(({ id }) => id);
  const questions = existsSync(decisions) ? await loadRatified(decisions, ids) : [];
  io.out.write(explainText(named, { manifest, questions, options, io }));
  return exits.passed;
}

type Given = {
  manifest: Manifest;
  questions: readonly Ratification[];
  options: Pick<ExplainOptions, 'lang' | 'manifest'>;
  io: Pick<Io, 'color' | 'width' | 'self'>;
};

/** The page as text, for a terminal of `io.width` columns. Pure. */
export function explainText({ clause, check }: Named, given: Given): string {
  const page: Page = {
    ...given,
    style: styleOf(given.io.color),
    word: explainWords[given.options.lang],
  };
  const blocks = check
    ? [heading(clause, page), checkBlock(check, page)]
    : [
        heading(clause, page),
        statement(clause, page),
        proofs(clause, page),
        plans(clause, page),
        openQuestions(clause, page),
      ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

type Page = Given & { style: Style; word: ExplainWords };

function heading(clause: Clause, { style, options }: Page): string[] {
  return [
    `${style.bold(`${clause.label}  ${clause.title[options.lang]}`)}  ${style.dim(clause.id)}`,
  ];
}

function statement(clause: Clause, page: Page): string[] {
  const { manifest, options, io, style, word } = page;
  const range = clause.until === undefined ? clause.since : `${clause.since} – < ${clause.until}`;
  const keys = Object.entries(manifest.selfTest)
    .filter(([, key]) => 'provenBy' in key && key.provenBy.some((id) => belongs(id, clause)))
    .map(([key]) => key);
  const facts = [
    `${word.impact} ${clause.impact} ${word.ofOne}`,
    `${word.release} ${range}`,
    clause.modes.join(', '),
    placeOf(clause.at),
  ].join(' · ');
  return [
    ...wrap(clause.statement[options.lang], io.width, '  '),
    '',
    ...(clause.harm === undefined
      ? []
      : wrap(`${word.harm}: ${clause.harm[options.lang]}`, io.width, '  ')),
    ...wrap(facts, io.width, '  ').map((line) => style.dim(line)),
    ...(keys.length === 0
      ? []
      : wrap(`${word.selfTest}: ${keys.join(', ')}`, io.width, '  ').map((line) =>
          style.dim(line),
        )),
    ...(clause.notApplicable === undefined
      ? []
      : wrap(`${word.notApplicable}: ${clause.notApplicable}`, io.width, '  ')),
    ...changedTexts({ ...manifest, clauses: [clause] }).flatMap(({ message }) =>
      wrap(`! ${message}`, io.width, '  ').map((line) => style.red(line)),
    ),
  ];
}

function proofs(clause: Clause, page: Page): string[] {
  const { style, word, io } = page;
  const built = clause.checks.filter((spec) => spec.planned === undefined);
  if (built.length === 0) return wrap(word.nothingBuilt, io.width);
  return [
    style.bold(word.proves),
    ...built.flatMap((spec) => ['', ...checkBlock(spec, page)]),
    '',
    `  ${word.allOfIt}  ${reproduceCommand(io.self, clause.id, 1, page.options)}`,
  ];
}

function plans(clause: Clause, page: Page): string[] {
  const { style, word } = page;
  const planned = clause.checks.filter((spec) => spec.planned !== undefined);
  if (planned.length === 0) return [];
  return [style.bold(word.planned), ...planned.flatMap((spec) => ['', ...checkBlock(spec, page)])];
}

/** One check: what it shows, how, what must be seen, and the command that runs it alone. */
function checkBlock(spec: CheckSpec, page: Page): string[] {
  const { style, word, io, options } = page;
  const kind = `${spec.kind}: ${kindWords[spec.kind][options.lang]}`;
  const field = (name: string, value: string | undefined): string[] =>
    value === undefined || value === ''
      ? []
      : wrap(value, io.width, `      ${name.padEnd(word.columns)}  `);
  const assertions = `${spec.expects} ${spec.expects === 1 ? word.assertion : word.assertions}`;
  const built = spec.planned === undefined;
  return [
    `  ${style.bold(spec.id)}`,
    ...wrap(spec.title, io.width, '      '),
    ...field(word.kind, kind),
    ...field(word.file, spec.file),
    ...field(word.stated, placeOf(spec.at)),
    ...field(word.expects, built ? assertions : ''),
    ...field(word.mustObserve, countsOf(spec.mustObserve)),
    ...field(word.needs, spec.needs.join(', ')),
    ...field(word.release, rangeOf(spec)),
    ...field(word.why, spec.planned),
    ...(built
      ? [
          // Never wrapped: it is there to be copied.
          `      ${word.reproduce.padEnd(word.columns)}  ${reproduceCommand(io.self, spec.id, 1, options)}`,
        ]
      : []),
  ];
}

function openQuestions(clause: Clause, page: Page): string[] {
  const { questions, style, word, io, options } = page;
  const asked = questions.filter((question) => question.clause === clause.id);
  if (asked.length === 0) return [];
  return [
    style.bold(word.questions),
    ...asked.flatMap((question) => {
      const { decision } = question;
      const answer =
        decision.is === 'open'
          ? `${word.open}; ${word.proposed}: ${question.proposed}`
          : `${word.ratified} ${decision.date}: ${decision.value}`;
      const key = question.key === undefined ? '' : ` (${question.key})`;
      const first = `  ${question.id}  `;
      return [
        ...wrap(question.question[options.lang], io.width, first),
        ...wrap(answer + key, io.width, ' '.repeat(first.length)),
      ];
    }),
  ];
}

function belongs(id: string, clause: Clause): boolean {
  return id === clause.id || clause.checks.some((spec) => spec.id === id);
}

function placeOf({ file, line, col }: Where): string {
  return `${file}:${line}:${col}`;
}

function countsOf(counts: CheckSpec['mustObserve']): string {
  return Object.entries(counts)
    .map(([name, least]) => `${name} ≥ ${least}`)
    .join(', ');
}

function rangeOf({ since, until }: CheckSpec): string | undefined {
  if (since === undefined && until === undefined) return undefined;
  return [since === undefined ? '' : `≥ ${since}`, until === undefined ? '' : `< ${until}`]
    .filter((part) => part !== '')
    .join(', ');
}
