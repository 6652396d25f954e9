/**
 * What was seen against what the file expects. An expectation is JSON, read so: a scalar equals
 * itself; a list has these items in this order; an object has at least these keys. Where a value
 * cannot be named beforehand, an object with one of the keys below stands for it.
 */
import { isObject, type Json, type JsonObject } from './json.ts';

type Test = {
  holds(seen: Json | undefined, argument: Json): boolean;
  words(argument: Json): string;
};

const KINDS: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  time: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/,
  text: /\S/,
};

/** `{ between: [24, 36] }`, `{ any: uuid }`, `{ absent: true }`, `{ only: { … } }`. */
const tests: Readonly<Record<string, Test>> = {
  between: {
    holds: (seen, range) => {
      const [low, high] = range as [number, number];
      return typeof seen === 'number' && seen >= low && seen <= high;
    },
    words: (range) => `a number from ${(range as Json[]).map(String).join(' to ')}`,
  },
  any: {
    holds: (seen, kind) => typeof seen === 'string' && (KINDS[kind as string]?.test(seen) ?? false),
    words: (kind) => `some ${kind as string}`,
  },
  absent: { holds: (seen) => seen === undefined, words: () => 'no such key' },
};

/**
 * Every difference, as `answer.reason is "not_leased", not "already_terminal"`; empty when the
 * expectation is met. `{ only: {…} }` is an object with these keys and no other.
 */
export function differences(expected: Json, seen: Json | undefined, path = ''): string[] {
  if (isObject(expected)) {
    const [key = '', ...others] = Object.keys(expected);
    const argument = expected[key];
    if (others.length === 0 && argument !== undefined) {
      const test = tests[key];
      if (test)
        return test.holds(seen, argument) ? [] : [differs(path, seen, test.words(argument))];
      if (key === 'only' && isObject(argument)) {
        return [...differences(argument, seen, path), ...surplus(argument, seen, path)];
      }
    }
    if (!isObject(seen)) return [differs(path, seen, JSON.stringify(expected))];
    return Object.entries(expected).flatMap(([name, value]) =>
      differences(value, seen[name], path === '' ? name : `${path}.${name}`),
    );
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(seen) || seen.length !== expected.length) {
      return [differs(path, seen, JSON.stringify(expected))];
    }
    return expected.flatMap((value: Json, index) =>
      differences(value, (seen as Json[])[index], `${path}[${index}]`),
    );
  }
  return seen === expected ? [] : [differs(path, seen, JSON.stringify(expected))];
}

function surplus(expected: JsonObject, seen: Json | undefined, path: string): string[] {
  if (!isObject(seen)) return [];
  return Object.entries(seen)
    .filter(([name]) => !Object.hasOwn(expected, name))
    .map(([name, value]) =>
      differs(path === '' ? name : `${path}.${name}`, value, 'absent: it is not documented'),
    );
}

function differs(path: string, seen: Json | undefined, expected: string): string {
  const what = path === '' ? 'it' : path;
  return `${what} is ${seen === undefined ? 'absent' : shortened(JSON.stringify(seen))}, not ${expected}`;
}

function shortened(text: string): string {
  return text.length <= 400 ? text : `${text.slice(0, 399)}…`;
}
