import { KitError } from '../errors.ts';
import type { CheckSpec, Clause, Manifest } from '../types.ts';
import { didYouMean } from './suggest.ts';

/** What a name on the command line stands for. */
export type Named = { clause: Clause; check?: CheckSpec };

/**
 * The clause or check of a name as people type it: `s8.3`, `§8.3`, `8.3`, `Điều 35`, `DP3 §5`, or a
 * check id such as `s8.3.killed-worker-is-reaped`.
 *
 * @throws KitError 64 for a name that the manifest does not have, with the nearest one.
 */
export function findNamed(manifest: Manifest, name: string): Named {
  const typed = plain(name);
  for (const clause of manifest.clauses) {
    if (typed === plain(clause.id) || typed === plain(clause.label)) return { clause };
    const check = clause.checks.find(({ id }) => plain(id) === typed);
    if (check !== undefined) return { clause, check };
  }
  const ids = manifest.clauses.flatMap(({ id, checks }) => [
    id,
    ...checks.map((check) => check.id),
  ]);
  // Labels are tried in their plain form, so that "§8.33" finds what "8.33" would.
  const labels = new Map(manifest.clauses.map(({ id, label }) => [plain(label), id]));
  const guess = didYouMean(typed, [...ids, ...labels.keys()]).replace(
    /did you mean (.*)\?$/,
    (_all, found: string) => `did you mean ${labels.get(found) ?? found}?`,
  );
  throw new KitError(
    64,
    `unknown clause or check "${name}"${guess}`,
    'dieu45 list shows every clause and its checks',
  );
}

/** Without case, diacritics, blanks and the section sign; `s8.3`, `§8.3` and `8.3` are one name. */
function plain(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[đĐ]/g, 'd')
    .toLowerCase()
    .replace(/[§\s]/g, '')
    .replace(/^s(?=\d)/, '');
}
