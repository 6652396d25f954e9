import { mapOf, textAt, type ClauseEntry } from './entries.ts';
import type { Problem } from './problem.ts';
import type { Path, Source } from './source.ts';
import { didYouMean } from './suggest.ts';

/** Profiles and self_test keys name clauses and checks; each name must be one of the file. */
export function referenceProblems(source: Source, clauses: readonly ClauseEntry[]): Problem[] {
  const known = new Set<string>();
  for (const clause of clauses) {
    const id = textAt(clause, 'id');
    if (id !== undefined) known.add(id);
    for (const check of clause.checks) {
      const checkId = textAt(check, 'id');
      if (checkId === undefined) continue;
      known.add(checkId);
      // The clause that a check's id names counts as known: a mistyped clause id is one mistake.
      known.add(checkId.split('.').slice(0, -1).join('.'));
    }
  }
  // An entry without an id is reported already, and may be the one that is meant.
  const nameless = [...clauses, ...clauses.flatMap(({ checks }) => checks)].some(
    (entry) => textAt(entry, 'id') === undefined,
  );
  if (nameless || known.size === 0) return [];
  return references(source.data)
    .filter(({ id }) => !known.has(id))
    .map(({ id, path }) => ({
      ...source.at(path),
      message: `unknown clause or check "${id}"${didYouMean(id, known)}`,
    }));
}

function references(data: unknown): { id: string; path: Path }[] {
  const lists = (section: string, key: string) =>
    Object.entries(mapOf(mapOf(data)?.[section]) ?? {}).flatMap(([name, value]) => {
      const list = mapOf(value)?.[key];
      if (!Array.isArray(list)) return [];
      return list.flatMap((id: unknown, index) =>
        typeof id === 'string' ? [{ id, path: [section, name, key, index] }] : [],
      );
    });
  return [...lists('profiles', 'without'), ...lists('self_test', 'proven_by')];
}
