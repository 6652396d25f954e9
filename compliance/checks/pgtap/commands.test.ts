import { expect, test } from 'vitest';
import { parseCommandLine, quoteIdentifier, quoteLiteral } from './commands.ts';

const variables = new Map([
  ['x', 'one two'],
  ['q', "it's"],
]);

/** `name(arg|arg)` for each command of the line. */
function shown(line: string): string[] {
  const parsed = parseCommandLine(line, variables);
  if ('problem' in parsed) return [`${parsed.problem} at ${parsed.offset}`];
  return parsed.commands.map(({ name, args }) => `${name}(${args.join('|')})`);
}

test.each([
  ['\\unset ECHO', ['unset(ECHO)']],
  ['\\pset format unaligned \\pset pager off', ['pset(format|unaligned)', 'pset(pager|off)']],
  ["\\set name 'a b' c", ['set(name|a b|c)']],
  ["\\set name 'it''s \\n\\x41\\101\\z'", ["set(name|it's \nAAz)"]],
  ["\\set name pre'mid'post", ['set(name|premidpost)']],
  ['\\echo "a b"', ['echo(a b)']],
  ['\\echo :x :unknown :\'q\' :"x" a:x', ["echo(one two|:unknown|'it''s'|\"one two\"|aone two)"]],
  ['\\set', ['set()']],
  ['\\set name `date`', ['a `command` is not run here at 10']],
  ["\\set name 'a", ['unterminated quoted string at 10']],
  ['\\set name "a', ['unterminated quoted string at 10']],
])('%s is read as psql reads it', (line, commands) => {
  expect(shown(line)).toEqual(commands);
});

test('a value becomes a literal or a name that cannot break out', () => {
  expect(quoteLiteral("a'b")).toBe("'a''b'");
  expect(quoteLiteral('a\\')).toBe(" E'a\\\\'");
  expect(quoteIdentifier('a"b')).toBe('"a""b"');
});
