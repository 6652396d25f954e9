import { expect, test } from 'vitest';
import type { Json } from './json.ts';
import { differences } from './match.ts';

const met: readonly (readonly [expected: Json, seen: Json])[] = [
  [1, 1],
  [null, null],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{}, { a: 1 }],
  [{ only: { a: 1 } }, { a: 1 }],
  [
    [1, { a: 'x' }],
    [1, { a: 'x', b: null }],
  ],
  [{ a: { between: [1, 2] } }, { a: 1.5 }],
  [{ any: 'uuid' }, '00000000-0000-0000-0000-000000000001'],
  [{ any: 'time' }, '2026-11-30T20:00:00+00:00'],
  [{ a: { absent: true } }, { b: 1 }],
];

test.each(met)('%j is met by %j', (expected, seen) => {
  expect(differences(expected, seen)).toEqual([]);
});

const missed: readonly (readonly [expected: Json, seen: Json | undefined, said: string[]])[] = [
  [1, 2, ['it is 2, not 1']],
  [1, '1', ['it is "1", not 1']],
  [null, undefined, ['it is absent, not null']],
  [{ a: 1, b: 2 }, { a: 2 }, ['a is 2, not 1', 'b is absent, not 2']],
  [{ a: { b: 1 } }, { a: { b: 2 } }, ['a.b is 2, not 1']],
  [{ a: 1 }, 'text', ['it is "text", not {"a":1}']],
  [{ only: { a: 1 } }, { a: 1, b: 2 }, ['b is 2, not absent: it is not documented']],
  [[1, 2], [1], ['it is [1], not [1,2]']],
  [[1], [2], ['[0] is 2, not 1']],
  [{ between: [1, 2] }, 3, ['it is 3, not a number from 1 to 2']],
  [{ between: [1, 2] }, '1', ['it is "1", not a number from 1 to 2']],
  [{ any: 'uuid' }, 'no', ['it is "no", not some uuid']],
  [{ a: { absent: true } }, { a: null }, ['a is null, not no such key']],
];

test.each(missed)('%j is not met by %j', (expected, seen, said) => {
  expect(differences(expected, seen)).toEqual(said);
});
