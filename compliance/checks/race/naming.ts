/**
 * Names for ids that differ from run to run: of variables that hold them, or of the place in an answer
 * where they came up. Pure.
 */
import { isList, type Answer } from './answer.ts';
import type { HeldRow } from './stage.ts';
import type { Json, Variables } from './variables.ts';

export const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Gives ids names: those of variables first, then `id1`, `id2`… as they come up. */
export type Names = {
  of(id: string): string;
  /** The name that the id has by now, if it has one; asking gives it none. */
  sofar(id: string): string | undefined;
};

export function nameIds(variables: Variables): Names {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'string' && !names.has(value)) names.set(value, name);
  }
  let unnamed = 0;
  return {
    of(id) {
      const name = names.get(id) ?? `id${++unnamed}`;
      names.set(id, name);
      return name;
    },
    sofar: (id) => names.get(id),
  };
}

/** Name → id: of every variable, and of every place in an answer, `<step>/<path>`. */
export type KnownIds = ReadonlyMap<string, string>;

export function knownIds(variables: Variables, answers: ReadonlyMap<string, Answer>): KnownIds {
  const known = new Map<string, string>();
  for (const [name, value] of Object.entries(variables)) note(name, value, known);
  for (const [step, answer] of answers) {
    if (answer.is === 'value') note(step, answer.value, known);
  }
  return known;
}

function note(name: string, value: Json, known: Map<string, string>): void {
  if (typeof value === 'string') {
    if (value.length === 36 && value.replace(ID, '') === '') known.set(name, value);
  } else if (value !== null && typeof value === 'object') {
    const items = isList(value) ? [...value.entries()] : Object.entries(value);
    for (const [key, item] of items) note(`${name}/${key}`, item, known);
  }
}

/** A held row that can be found again in another run: its key with a name in place of the id. */
export type NamedRow = { table: string; keys: readonly string[] };

/** Every way to name the row; none when its id is known under no name. */
export function nameRow({ table, key }: HeldRow, known: KnownIds): NamedRow {
  const id = key.match(ID)?.[0];
  const names = [...known].filter(([, value]) => value === id).map(([name]) => name);
  return { table, keys: names.map((name) => key.replaceAll(ID, `{${name}}`)) };
}

/** The key of a named row in this run, once one of its names stands for an id. */
export function findRow({ keys }: NamedRow, known: KnownIds): string | undefined {
  for (const key of keys) {
    const name = /\{(.+)\}/.exec(key)?.[1] ?? '';
    const id = known.get(name);
    if (id !== undefined) return key.replace(`{${name}}`, id);
  }
  return undefined;
}
