/**
 * Makes what two runs saw comparable: ids and tokens by the order in which they came up, times by
 * whether they are there, delays not at all. Pure.
 */
import type { Answer } from './answer.ts';
import { isList } from './answer.ts';
import { ID, type Names } from './naming.ts';
import type { State } from './stage.ts';
import type { Json } from './variables.ts';

/** What one order came to. */
export type Outcome = { answers: Readonly<Record<string, Json>>; state: State };

const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d(?::?\d\d)?|Z)?/g;

/** Answers in the order of the scenario's steps, then the state: that order names what is new. */
export function normalise(
  answers: readonly (readonly [step: string, Answer])[],
  state: State,
  names: Names,
): Outcome {
  const name = (text: string): string => text.replaceAll(ID, (id) => names.of(id));
  // What has a name already tells rows apart; what has none yet is the same in every row.
  const blind = (text: string): string => text.replaceAll(ID, (id) => names.sofar(id) ?? 'id');
  const seen = answers.map(([step, answer]) => [step, map(comparable(answer), name)] as const);
  return { answers: Object.fromEntries(seen), state: normaliseState(state, name, blind) };
}

function comparable(answer: Answer): Json {
  switch (answer.is) {
    case 'value':
      return answer.value;
    case 'error':
      return { error: answer.code, detail: answer.detail };
    case 'skipped':
      return { skipped: true };
  }
}

/** Rows have no order of their own: they are sorted by what is the same in every run. */
function normaliseState(
  state: State,
  name: (text: string) => string,
  blind: (text: string) => string,
): State {
  return Object.fromEntries(
    Object.entries(state).map(([table, rows]) => {
      const keyed = rows.map((row) => ({ row, key: JSON.stringify(map(row, blind)) }));
      keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
      const named = keyed.map(({ row }) => map(row, name));
      return [table, sorted(named)];
    }),
  );
}

function sorted(rows: readonly Json[]): Json[] {
  return rows
    .map((row) => ({ row, key: JSON.stringify(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ row }) => row);
}

function map(value: Json, name: (text: string) => string): Json {
  if (typeof value === 'string') return name(value).replaceAll(TIME, 'time');
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map((item) => map(item, name));
  const entries = Object.entries(value)
    .map(([key, its]) => [name(key), map(its, name)] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries);
}

export type Difference = { path: string; here: Json | undefined; there: Json | undefined };

/** Where two outcomes differ, leaf by leaf; rows are matched, not counted off. */
export function differences(here: Outcome, there: Outcome): Difference[] {
  const found: Difference[] = [];
  compare('', here.answers, there.answers, found);
  for (const table of new Set([...Object.keys(here.state), ...Object.keys(there.state)])) {
    compareRows(table, here.state[table] ?? [], there.state[table] ?? [], found);
  }
  return found;
}

function compareRows(
  table: string,
  here: readonly Json[],
  there: readonly Json[],
  found: Difference[],
): void {
  const left = [...there];
  const extra: Json[] = [];
  for (const row of here) {
    const twin = left.findIndex((other) => JSON.stringify(other) === JSON.stringify(row));
    if (twin === -1) extra.push(row);
    else left.splice(twin, 1);
  }
  extra.forEach((row, index) => {
    if (index < left.length) compare(table, row, left[index], found);
    else found.push({ path: table, here: row, there: undefined });
  });
  for (const row of left.slice(extra.length))
    found.push({ path: table, here: undefined, there: row });
}

function compare(
  path: string,
  here: Json | undefined,
  there: Json | undefined,
  found: Difference[],
): void {
  if (JSON.stringify(here) === JSON.stringify(there)) return;
  if (!isPlain(here) || !isPlain(there)) {
    found.push({ path, here, there });
    return;
  }
  for (const key of new Set([...Object.keys(here), ...Object.keys(there)])) {
    compare(path === '' ? key : `${path}.${key}`, here[key], there[key], found);
  }
}

function isPlain(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return value !== null && typeof value === 'object' && !isList(value);
}
