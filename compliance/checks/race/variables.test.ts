import { expect, test } from 'vitest';
import { bind, blanksIn, fillIn, variablesIn } from './variables.ts';

const cases: [name: string, sql: string, names: string[]][] = [
  ['a variable', 'select :job', ['job']],
  ['a cast is none', 'select :job::uuid, 1::int', ['job']],
  ['an assignment is none', 'call f(a := 1, b := :b)', ['b']],
  ['text in quotes is none', "select ':job', 'it''s :job', \":job\"", []],
  ['text in dollar quotes is none', 'select $$ :job $$, $x$ :job $x$, :a', ['a']],
  ['comments are none', 'select 1 -- :job\n /* :job */ + :a', ['a']],
  ['twice is once', 'select :a, :a', ['a']],
];

test.each(cases)('variables are told from what looks like them: %s', (_name, sql, names) => {
  expect(variablesIn(sql)).toEqual(names);
});

test('each use of a variable becomes a parameter of its own', () => {
  expect(bind('select f(:a, :b, :a)', { a: 'x', b: null })).toEqual({
    text: 'select f($1, $2, $3)',
    values: ['x', null, 'x'],
  });
});

test('lists travel as arrays and objects as JSON', () => {
  expect(bind('select f(:a, :b)', { a: ['x', 'y'], b: { k: 1 } }).values).toEqual([
    ['x', 'y'],
    '{"k":1}',
  ]);
});

test('a variable without a value is an error that names it', () => {
  expect(() => bind('select :job', {})).toThrow(':job has no value yet');
});

test('the texts of a case are filled in', () => {
  expect(fillIn('{{call}}; {{other}}', { call: 'select 1' })).toBe('select 1; {{other}}');
  expect(blanksIn('{{call}} and {{other}}')).toEqual(['call', 'other']);
});
