import { expect, test } from 'vitest';
import { expectationOf, phasesOf, unknownCalls } from './expect.ts';
import { flagsFile } from './schema.ts';

const file = flagsFile.parse({
  matrix: 'flags',
  clause: 'dp3.7',
  title: 'a test',
  jobs: {},
  calls: {
    write: { query: 'select', answer: { done: true } },
    read: { query: 'select', answer: { done: true }, moves: false },
  },
  flags: {
    none: { setting: {} },
    off: {
      setting: { key: 'false' },
      inert: { write: { refused: true, reason: 'off' } },
      otherwise: { read: { done: 'differently' } },
    },
  },
  redelivery: { flag: 'off', refused: ['succeed'], then: [], ends: { status: 'x', attempts: 1 } },
});

test('what a flag stops is refused, moves nothing, and says so in the audit', () => {
  expect(expectationOf(file, { flag: 'off', call: 'write', phase: 'while' })).toEqual({
    answer: { refused: true, reason: 'off' },
    moved: false,
    audit: ['refused off'],
  });
});

test('what it does not stop works, as it says', () => {
  expect(expectationOf(file, { flag: 'off', call: 'read', phase: 'while' })).toEqual({
    answer: { done: 'differently' },
    moved: false,
  });
});

test('once it is lifted, everything works as before', () => {
  expect(phasesOf(file, 'none')).toEqual(['while']);
  expect(phasesOf(file, 'off')).toEqual(['while', 'after']);
  expect(expectationOf(file, { flag: 'off', call: 'write', phase: 'after' })).toEqual({
    answer: { done: true },
    moved: true,
  });
});

test('a call that is not there is named with its flag', () => {
  const flags = { off: { setting: {}, inert: { wirte: [] }, otherwise: {} } };
  expect(unknownCalls({ ...file, flags })).toEqual(['off: wirte']);
});
