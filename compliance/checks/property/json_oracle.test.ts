import { expect, test } from 'vitest';
import { isSignal, opinionOf } from './json_oracle.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

test.each<[string, unknown, boolean]>([
  ['an empty object', {}, true],
  ['an array', [], false],
  ['null', null, false],
  ['64 numbers', { v: numbers(64) }, true],
  ['65 numbers', { v: numbers(65) }, false],
  ['65 numbers and a null', { v: [...numbers(65), null] }, true],
  ['65 numbers, deep', { a: [{ b: [numbers(65)] }] }, false],
  ['65 numbers beside a null', { a: null, v: numbers(65) }, false],
  ['8192 bytes', { x: 'x'.repeat(8184) }, true],
  ['8193 bytes', { x: 'x'.repeat(8185) }, false],
  ['8194 bytes of 4093 characters', { x: 'é'.repeat(4093) }, false],
])('%s', (_, value, signal) => {
  expect(isSignal(JSON.stringify(value))).toBe(signal);
});

const item = {
  job_kind: 'mail',
  event_domain: 'tests',
  executor: 'dot_iu',
  idempotency_key: 'k',
  payload: {},
};

test.each<[string, unknown, string]>([
  ['a whole item', item, 'good'],
  ['an item with every default as null', { ...item, priority: null, actor: null }, 'good'],
  ['no object', [item], 'bad'],
  ['a key too many', { ...item, p_payload: {} }, 'bad'],
  ['a key too few', { ...item, payload: undefined }, 'bad'],
  ['another executor', { ...item, executor: 'nobody' }, 'bad'],
  ['a reserved kind', { ...item, job_kind: 'default' }, 'bad'],
  ['a key of blanks', { ...item, idempotency_key: '  ' }, 'bad'],
  [
    'a key of 200 characters outside the first plane',
    { ...item, idempotency_key: '💩'.repeat(200) },
    'good',
  ],
  ['a key of 201 characters', { ...item, idempotency_key: 'k'.repeat(201) }, 'bad'],
  ['a key of a blank that some locales know', { ...item, idempotency_key: '\u00a0' }, 'unsure'],
  ['a control character', { ...item, event_domain: 'a\u0085' }, 'bad'],
  ['the smallest priority', { ...item, priority: -(2 ** 31) }, 'good'],
  ['a priority beyond 32 bits', { ...item, priority: 2 ** 31 }, 'bad'],
  ['a priority that a float reads as 0', { ...item, priority: 0 }, 'unsure'],
  ['a time, which the server reads', { ...item, process_after: 'soon' }, 'unsure'],
  ['a time that is a number', { ...item, process_after: 0 }, 'bad'],
])('%s', (_, value, opinion) => {
  expect(opinionOf(JSON.parse(JSON.stringify(value)), 'dot_iu')).toBe(opinion);
});
