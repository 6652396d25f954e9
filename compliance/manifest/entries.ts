import type { Path } from './source.ts';

/** A map in the file that may be wrong in any way, and where it stands. */
export type Entry = {
  path: Path;
  value: Readonly<Record<string, unknown>>;
  parent?: Entry;
};
export type ClauseEntry = Entry & { checks: Entry[] };

/** The clauses as far as they can be read, each with its checks. */
export function clausesOf(data: unknown): ClauseEntry[] {
  return entriesOf(mapOf(data)?.clauses, ['clauses']).map((clause) => ({
    ...clause,
    checks: entriesOf(clause.value.checks, [...clause.path, 'checks']).map((check) => ({
      ...check,
      parent: clause,
    })),
  }));
}

/** The text under a key, or undefined when there is none or it is no text. */
export function textAt(entry: Entry, key: string): string | undefined {
  const value = entry.value[key];
  return typeof value === 'string' ? value : undefined;
}

/** A value as a map, or undefined. */
export function mapOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Record<string, unknown>;
}

function entriesOf(value: unknown, path: Path): Entry[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown, index) => {
    const map = mapOf(item);
    return map === undefined ? [] : [{ path: [...path, index], value: map }];
  });
}
