/** `list`: the clauses, and by what kinds of check each is proven. */
import { readManifest } from '../manifest/load.ts';
import { fit, styleOf, widthOf } from '../report/style.ts';
import { wordsOf } from '../report/words.ts';
import type { CheckSpec, Clause, Lang, Manifest } from '../types.ts';
import { type ExitCode, exits } from '../verdict/exit.ts';
import type { Io } from './io.ts';
import { manifestPath } from './manifest_path.ts';

export type ListOptions = { manifest?: string; lang: Lang; json: boolean };

/** @throws KitError 64 or 65 when the manifest cannot be read. */
export async function list(options: ListOptions, io: Io): Promise<ExitCode> {
  const manifest = await readManifest(manifestPath(options, io));
  io.out.write(options.json ? listJson(manifest) : listText(manifest, options.lang, io));
  return exits.passed;
}

/** Everything that a script may want to know of clauses and checks; times in milliseconds. */
export function listJson({ clauses }: Manifest): string {
  return `${JSON.stringify({ clauses }, null, 2)}\n`;
}

type Row = { label: string; id: string; title: string; built: string; planned: string };

const words = {
  en: { clauses: 'clauses', more: 'tells what a clause says and what proves it' },
  vi: { clauses: 'điều khoản', more: 'cho biết điều khoản nói gì và được chứng minh bằng gì' },
} as const;

/** A line a clause: label, id, title, built checks by kind, how many are planned. */
export function listText(
  manifest: Manifest,
  lang: Lang,
  io: Pick<Io, 'color' | 'width' | 'self'>,
): string {
  const style = styleOf(io.color);
  const word = { ...wordsOf(lang), ...words[lang] };
  const rows = manifest.clauses.map((clause) => rowOf(clause, lang));
  const columns = (key: keyof Row): number => Math.max(...rows.map((row) => widthOf(row[key])));
  const fixed = columns('label') + columns('id') + columns('planned') + 8;
  const built = Math.min(columns('built'), Math.max(0, io.width - fixed - LEAST_TITLE_COLUMNS));
  const title = Math.min(columns('title'), Math.max(LEAST_TITLE_COLUMNS, io.width - fixed - built));
  const lines = rows.map((row) =>
    [
      style.bold(fit(row.label, columns('label'))),
      style.dim(fit(row.id, columns('id'))),
      fit(row.title, title),
      ...(built === 0 ? [] : [fit(row.built, built)]),
      style.dim(row.planned),
    ]
      .join('  ')
      .trimEnd(),
  );
  const checks = manifest.clauses.flatMap((clause) => clause.checks);
  const planned = checks.filter(isPlanned).length;
  return [
    ...lines,
    '',
    `${rows.length} ${word.clauses} · ${checks.length} ${word.checks} · ${planned} ${word.planned}`,
    style.dim(`${io.self} explain ${manifest.clauses[0]?.id ?? ''}  ${word.more}`),
    '',
  ].join('\n');
}

const LEAST_TITLE_COLUMNS = 14;

function rowOf(clause: Clause, lang: Lang): Row {
  const planned = clause.checks.filter(isPlanned).length;
  return {
    label: clause.label,
    id: clause.id,
    title: clause.title[lang],
    built: countsByKind(clause.checks.filter((spec) => !isPlanned(spec))),
    planned: planned === 0 ? '' : `${planned} ${wordsOf(lang).planned}`,
  };
}

/** `claimers 2, race, pgtap`: a kind that is there once needs no number. */
function countsByKind(specs: readonly CheckSpec[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of specs) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} ${count}`)).join(', ');
}

function isPlanned(spec: CheckSpec): boolean {
  return spec.planned !== undefined;
}
