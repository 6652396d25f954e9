import { expect, test } from 'vitest';
import { charLength, nameSql, oneLine, textLiteral, typed } from './sql_text.ts';

test.each([
  ['plain', "'plain'"],
  ["it's", "'it''s'"],
  ['a\\b', "E'a\\\\b'"],
  ["\\'", "E'\\\\'''"],
  ['a\nb\t', "E'a\\nb\\t'"],
  ['é\u0001', "E'\\u00e9\\u0001'"],
  ['💩', "E'\\U0001f4a9'"],
])('%j is written %s', (text, literal) => {
  expect(textLiteral(text)).toBe(literal);
});

test.each([
  ["'a'", "'a'::text"],
  ['null', 'null::text'],
  ['-1', '(-1)::text'],
  ["repeat('a', 3)", "(repeat('a', 3))::text"],
  ["E'\\n'", "(E'\\n')::text"],
])('%s with its type is %s', (expression, text) => {
  expect(typed(expression, 'text')).toBe(text);
});

test('a name is quoted only where it must be', () => {
  expect(nameSql('public', 'Job "x"')).toBe('public."Job ""x"""');
});

test('characters are counted as PostgreSQL counts them', () => {
  expect(charLength('a💩é')).toBe(3);
});

test('a statement is shown on one line, and cut', () => {
  expect(oneLine('select 1\n   from t\n')).toBe('select 1 from t');
  expect(oneLine('select 1', 6)).toBe('select …');
});
