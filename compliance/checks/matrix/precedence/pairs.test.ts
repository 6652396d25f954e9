import { expect, test } from 'vitest';
import { canMeet, unknownFaults, wrongCalls } from './pairs.ts';
import { precedenceFile } from './schema.ts';

const file = precedenceFile.parse({
  matrix: 'precedence',
  clause: 's6.7',
  title: 'a test',
  jobs: {},
  faults: {
    off: { says: 'off', setting: { flag: 'false' }, answer: {} },
    level: { says: 'level', isolation: 'serializable', answer: {} },
    no_id: { says: 'no id', arguments: { p_id: 'null' }, answer: {} },
    bad_id: { says: 'bad id', arguments: { p_id: '0' }, answer: {} },
  },
  functions: { fn: { arguments: {}, wrong: ['off', 'level', 'no_id', 'bad_id'] } },
});

test('every fault alone and every two that can come together, the earlier first', () => {
  expect(wrongCalls(file).map(({ faults }) => faults.join('+'))).toEqual([
    'off',
    'off+level',
    'off+no_id',
    'off+bad_id',
    'level',
    'level+no_id',
    'level+bad_id',
    'no_id',
    'bad_id',
  ]);
});

test('two faults of one argument cannot come together', () => {
  const { no_id: one, bad_id: other, off } = file.faults;
  expect(one && other && canMeet(one, other)).toBe(false);
  expect(one && off && canMeet(one, off)).toBe(true);
});

test('a fault that is not there is named with its function', () => {
  const functions = { fn: { arguments: {}, rows: false, stable: false, wrong: ['offf'] } };
  expect(unknownFaults({ ...file, functions })).toEqual(['fn: offf']);
});
