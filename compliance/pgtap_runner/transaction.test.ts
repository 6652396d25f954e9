import { expect, test } from 'vitest';
import type { Step } from '../checks/pgtap/script.ts';
import { enclose } from './transaction.ts';

const steps = (...sql: string[]): Step[] =>
  sql.map((text, i) => ({ is: 'sql', sql: text, at: { file: 'a.sql', line: i + 1, col: 1 } }));

test.each([
  ['a suite in a transaction of its own', ['BEGIN', 'select 1', 'ROLLBACK'], 'BEGIN', ['select 1']],
  [
    'modes of the transaction',
    ['start transaction isolation level serializable', 'select 1'],
    'start transaction isolation level serializable',
    ['select 1'],
  ],
  ['a suite without a transaction', ['select 1', 'select 2'], 'begin', ['select 1', 'select 2']],
  [
    'a savepoint',
    ['begin', 'savepoint s', 'rollback to savepoint s', 'rollback work to s', 'abort'],
    'begin',
    ['savepoint s', 'rollback to savepoint s', 'rollback work to s'],
  ],
  ['a second begin', ['select 1', 'begin', 'select 2'], 'begin', ['select 1', 'select 2']],
])('%s fits into one', (_, given, begin, kept) => {
  const enclosed = enclose(steps(...given));
  expect(enclosed.begin).toBe(begin);
  expect(enclosed.steps.map((step) => step.is === 'sql' && step.sql)).toEqual(kept);
});

test.each([
  ['commit', ['begin', 'select 1', 'COMMIT'], 'a.sql:3:1'],
  ['end', ['begin', 'end transaction'], 'a.sql:2:1'],
  ['prepare', ['begin', "prepare transaction 'x'"], 'a.sql:2:1'],
  [
    'a statement after the rollback',
    ['begin', 'rollback', 'insert into t values (1)'],
    'a.sql:3:1',
  ],
])('%s is refused before anything runs', (_, given, place) => {
  expect(() => enclose(steps(...given))).toThrow(`${place}: this would keep its changes`);
});

test('what the script prints stays', () => {
  const echo: Step = { is: 'echo', text: 'hi', at: { file: 'a.sql', line: 1, col: 1 } };
  expect(enclose([echo, ...steps('begin', 'select 1')])).toMatchObject({
    begin: 'begin',
    steps: [echo, { sql: 'select 1' }],
  });
});
