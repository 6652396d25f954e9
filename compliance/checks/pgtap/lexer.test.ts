import { beforeAll, expect, test } from 'vitest';
import { lex, loadScanner } from './lexer.ts';

beforeAll(loadScanner);

/** Pieces as text, to read in a table. */
function shown(script: string): string[] {
  const lexed = lex(script);
  if ('unterminatedAt' in lexed) return [`unterminated at ${lexed.unterminatedAt}`];
  return lexed.pieces.map((piece) =>
    piece.is === 'command' ? piece.text : piece.tokens.map(({ text }) => text).join('·'),
  );
}

test.each([
  ['a command on a line of its own', '\\set x 1\nselect 1;', ['\\set x 1', 'select·1·;']],
  ['a command after a statement', 'select 1; \\echo hi\n', ['select·1·;', '\\echo hi']],
  ['a command between two tokens', 'select\n\\set x 1\n1;', ['select', '\\set x 1', '1·;']],
  ['a Windows line end', '\\set x 1\r\nselect 1;\r\n', ['\\set x 1', 'select·1·;']],
  ['a backslash in a string', "select 'a\\b';", ["select·'a\\b'·;"]],
  [
    'a line in a string that looks like a command',
    "select '\n\\set x 1\n';",
    ["select·'\n\\set x 1\n'·;"],
  ],
  ['a backslash in an escape string', "select E'it\\'s';", ["select·E'it\\'s'·;"]],
  [
    'a line in a dollar quote that looks like a command',
    'do $a$\n\\i x\n$a$;',
    ['do·$a$\n\\i x\n$a$·;'],
  ],
  ['a backslash in a line comment', 'select 1; -- \\d t', ['select·1·;·-- \\d t']],
  ['a command after a line comment', '-- note\n\\set x 1', ['-- note', '\\set x 1']],
  ['a backslash in a block comment', '/* \\d */ select 1', ['/* \\d */·select·1']],
  ['a backslash in a quoted name', 'select "a\\b"', ['select·"a\\b"']],
  [
    'a quote in the argument of a command',
    "\\echo it's\nselect 'x';",
    ["\\echo it's", "select·'x'·;"],
  ],
  [
    'letters beyond ASCII before a token',
    "select 'điều 45', x; select y",
    ["select·'điều 45'·,·x·;·select·y"],
  ],
  ['only white space', ' \n ', []],
])('%s is told apart', (_, script, pieces) => {
  expect(shown(script)).toEqual(pieces);
});

test.each([
  ['a string', "select 1;\nselect 'a", 10],
  ['a dollar quote', 'select 1;\n\ndo $$ begin', 11],
  ['a block comment', '/* a', 0],
  ['a string after a command', "\\set x 1\nselect 2;\nselect 'a\n;", 19],
])('%s that never closes is placed on its line', (_, script, at) => {
  expect(lex(script)).toEqual({ unterminatedAt: at });
});

test('a token stands where the script has it, also after letters of several bytes', () => {
  const script = "select 'ắ😀', wanted";
  const lexed = lex(script);
  const token =
    'pieces' in lexed && lexed.pieces[0]?.is === 'sql' ? lexed.pieces[0].tokens.at(-1) : undefined;
  expect(token).toMatchObject({ text: 'wanted', start: script.indexOf('wanted') });
});
