/**
 * Makes what two runs saw comparable: ids and tokens by the order in which they came up, times by
 * whether they are there, delays not at all. Pure.
 */
import type { Answer } from './answer.ts';
import { isList } from './answer.ts';
import type { HeldRow, State } from './stage.ts';
import type { Json, Variables } from './variables.ts';

/** What one order came to. */
export type Outcome = { answers: Readonly<Record<string, Json>>; state: State };

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d(?::?\d\d)?|Z)?/g;

/** Gives ids names: those of variables first, then `id1`, `id2`… as they come up. */
export function nameIds(variables: Variables): (id: string) => string {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'string' && !names.has(value)) names.set(value, name);
  }
  let unnamed = 0;
  return (id) => {
    const name = names.get(id) ?? `id${++unnamed}`;
    names.set(id, name);
    return name;
  };
}

/** A held row that can be found again in another run: its key with a variable in place of the id. */
export type NamedRow = { table: string; keys: readonly string[] };

/** Every way to name the row by a variable; none when no variable holds its id. */
export function nameRow({ table, key }: HeldRow, variables: Variables): NamedRow {
  const id = key.match(ID)?.[0];
  const names = Object.entries(variables).filter(([, value]) => value !== null && value === id);
  return { table, keys: names.map(([name]) => key.replaceAll(ID, `{${name}}`)) };
}

/** The key of a named row in this run, when a variable of it has a value already. */
export function findRow({ keys }: NamedRow, variables: Variables): string | undefined {
  for (const key of keys) {
    const name = /\{(\w+)\}/.exec(key)?.[1] ?? '';
    const value = variables[name];
    if (typeof value === 'string') return key.replace(`{${name}}`, value);
  }
  return undefined;
}

/** Answers in the order of the scenario's steps, then the state: that order names what is new. */
export function normalise(
  answers: readonly (readonly [step: string, Answer])[],
  state: State,
  nameOf: (id: string) => string,
): Outcome {
  const name = (text: string): string => text.replaceAll(ID, (id) => nameOf(id));
  const seen = answers.map(([step, answer]) => [step, map(comparable(answer), name)] as const);
  return { answers: Object.fromEntries(seen), state: normaliseState(state, name) };
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
function normaliseState(state: State, name: (text: string) => string): State {
  const blind = (text: string): string => text.replaceAll(ID, 'id');
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
