import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { KitError } from '../errors.ts';
import { parseManifest } from './parse.ts';
import { ratifiedSchema } from './ratified.ts';
import { goodManifest } from './samples.ts';
import { jsonSchemaOf, manifestSchema } from './schema.ts';

/**
 * Editors read the JSON Schema, the kit reads its parser; what one accepts the other must accept.
 * Both are tried on a good manifest of which one value is replaced, removed, repeated or renamed.
 * References and repeated ids are no matter of shape: those problems are left aside.
 */
const accepts = new Ajv({ strict: false }).compile(jsonSchemaOf(manifestSchema));
const good = parse(goodManifest) as object;

const acrossEntries =
  /unknown clause or check|is already used|must begin with|does not begin|never applies|already counts|reads \.\w+ files|inside the project/;

function parserAccepts(value: unknown): boolean {
  try {
    parseManifest(stringify(value), 'm.yaml');
    return true;
  } catch (thrown) {
    if (!(thrown instanceof KitError)) throw thrown;
    return thrown.message.split('\n').every((line) => acrossEntries.test(line));
  }
}

type Step = string | number;

/** Every place in a value, the whole included. */
function placesOf(value: unknown, path: readonly Step[] = []): (readonly Step[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const steps: [Step, unknown][] = Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : Object.entries(value);
  return [path, ...steps.flatMap(([step, inner]) => placesOf(inner, [...path, step]))];
}

type Holder = Record<Step, unknown>;

/** A copy in which the holder of a place was changed. */
function changed(path: readonly Step[], change: (holder: Holder, step: Step) => void): unknown {
  const copy = structuredClone(good) as Holder;
  const step = path.at(-1);
  if (step === undefined) return copy;
  const holder = path.slice(0, -1).reduce<Holder>((at, inner) => at[inner] as Holder, copy);
  change(holder, step);
  return copy;
}

const place = fc.constantFrom(...placesOf(good).filter((path) => path.length > 0));
const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    1,
    -1,
    0.5,
    2.5,
    1e9,
    '',
    ' ',
    'x',
    '2.0',
    's8.3',
    '§',
    'a\nb',
  ),
  fc.constantFrom<unknown>(
    'gate',
    'catalog',
    'timed',
    'own_server',
    'Đúng',
    's8.3.lease-functions',
  ),
  fc.string({ maxLength: 8 }),
);
const anything = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('en', 'vi', 'run', 'file', 'planned', 'id', 'zz'), scalar),
);
const keys = placesOf(good).flatMap((path) => path.filter((step) => typeof step === 'string'));

const mutation = fc.oneof(
  fc.tuple(place, anything).map(([path, value]) =>
    changed(path, (holder, step) => {
      holder[step] = value;
    }),
  ),
  place.map((path) =>
    changed(path, (holder, step) => {
      if (Array.isArray(holder)) holder.splice(Number(step), 1);
      else Reflect.deleteProperty(holder, step);
    }),
  ),
  fc
    .tuple(place, fc.constantFrom(...keys, 'until', 'needs', 'planned', 'extra'), anything)
    .map(([path, key, value]) =>
      changed(path, (holder) => {
        if (Array.isArray(holder)) holder.push(value);
        else holder[key] = value;
      }),
    ),
  place.map((path) =>
    changed(path, (holder, step) => {
      if (Array.isArray(holder)) holder.push(holder[step as number]);
    }),
  ),
);

test('the JSON Schema and the parser accept the good manifest', () => {
  expect(accepts(good)).toBe(true);
  expect(parserAccepts(good)).toBe(true);
});

test('the JSON Schema and the parser accept and refuse the same shapes', () => {
  const seen = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(mutation, (value) => {
      const verdict = accepts(value);
      seen[verdict ? 'accepted' : 'refused'] += 1;
      expect({ parser: parserAccepts(value) }).toEqual({ parser: verdict });
    }),
    { numRuns: 250 },
  );
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(20);
});

test.for([
  ['dieu45', manifestSchema],
  ['ratified', ratifiedSchema],
] as const)('the schema that editors read beside %s.yaml is this one', ([name, schema]) => {
  const file = new URL(`../../selftest/${name}.schema.json`, import.meta.url);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject(jsonSchemaOf(schema));
});
