/** One cell of a matrix as an observation. */
import type { Observation, Where } from '../../types.ts';
import type { Json } from './json.ts';
import { differences } from './match.ts';

/** Differences told in full; the rest is counted. */
const TOLD = 6;

export type Cell = {
  /** Says the cell; the clause comes before it. */
  name: string;
  expected: Json;
  seen: Json;
  at?: Where;
  /** What led here, a line each, shown when the cell fails. */
  trace?: readonly string[];
};

/** The assertion of a cell: its name begins with the clause that the file speaks for. */
export function assertionOf(
  clause: string,
  { name, expected, seen, at, trace }: Cell,
): Observation {
  const found = differences(expected, seen);
  const base = { is: 'assertion' as const, name: `${clause}: ${name}`, ...(at ? { at } : {}) };
  if (found.length === 0) return { ...base, ok: true };
  const rest = found.length - TOLD;
  return {
    ...base,
    ok: false,
    expected: JSON.stringify(expected),
    seen: [...found.slice(0, TOLD), ...(rest > 0 ? [`${rest} more`] : [])].join('; '),
    ...(trace ? { trace } : {}),
  };
}

/** Counts by name, in alphabetical order. */
export function countsOf(names: Iterable<string>): Observation[] {
  const totals = new Map<string, number>();
  for (const name of names) totals.set(name, (totals.get(name) ?? 0) + 1);
  return [...totals]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ({ is: 'count', name, value }));
}
