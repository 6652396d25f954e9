import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KitError } from '../../errors.ts';
import { readScript } from './script.ts';

let root = '';
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'dieu45-script-'));
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

/** Writes files, reads the first one: `line:col sql` or `line:col echo text` for each step. */
async function steps(files: Record<string, string>): Promise<string[]> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  const read = await readScript(Object.keys(files)[0] ?? '', root);
  return read.map((step) => {
    const what = step.is === 'echo' ? `echo ${step.text}` : step.sql;
    return `${step.at.file}:${step.at.line}:${step.at.col} ${what}`;
  });
}

test.each([
  ['statements', 'select 1; select 2;', ['a.sql:1:1 select 1', 'a.sql:1:11 select 2']],
  ['a last statement without a semicolon', 'select 1', ['a.sql:1:1 select 1']],
  ['empty statements', ';;-- nothing\n;', []],
  ['a comment before a statement', '-- note\n/* more */\nselect 1;', ['a.sql:3:1 select 1']],
  ['a semicolon in a string', "select ';';", ["a.sql:1:1 select ';'"]],
  [
    'a semicolon in a dollar quote',
    'do $$ a; b $$; select 1;',
    ['a.sql:1:1 do $$ a; b $$', 'a.sql:1:16 select 1'],
  ],
  [
    'a semicolon in parentheses',
    'create rule r as on insert to t do (select 1; select 2); select 3;',
    ['a.sql:1:1 create rule r as on insert to t do (select 1; select 2)', 'a.sql:1:58 select 3'],
  ],
  [
    'a function body in standard form',
    'create function f() returns int begin atomic select case when true then 1 end; end; select 1;',
    [
      'a.sql:1:1 create function f() returns int begin atomic select case when true then 1 end; end',
      'a.sql:1:85 select 1',
    ],
  ],
  [
    'a transaction block',
    'begin; end; select 1;',
    ['a.sql:1:1 begin', 'a.sql:1:8 end', 'a.sql:1:13 select 1'],
  ],
  [
    'a comment inside a statement',
    'select /* ; */ 1 -- ;\n, 2;',
    ['a.sql:1:1 select /* ; */ 1 -- ;\n, 2'],
  ],
  [
    'variables',
    "\\set n 5\n\\set s 'it''s'\nselect plan(:n), :'s', :\"s\", x::int, :none, a[1:2];",
    ["a.sql:3:1 select plan(5), 'it''s', \"it's\", x::int, :none, a[1:2]"],
  ],
  [
    'a variable in a string or a comment',
    "\\set n 5\nselect ':n' /* :n */;",
    ["a.sql:2:1 select ':n' /* :n */"],
  ],
  ['a variable that was unset', '\\set n 5\n\\unset n\nselect :n;', ['a.sql:3:1 select :n']],
  [
    'a variable made of several',
    "\\set a 1\n\\set b :a 2 '3'\nselect :b;",
    ['a.sql:3:1 select 123'],
  ],
  [
    'echo',
    '\\echo 1..0 # SKIP :x\nselect 1;',
    ['a.sql:1:1 echo 1..0 # SKIP :x', 'a.sql:2:1 select 1'],
  ],
  [
    'a command inside a statement, keeping the lines',
    'select 1,\n\\set x 7\n  :x;',
    ['a.sql:1:1 select 1,\n\n  7'],
  ],
  [
    'a byte order mark and Windows line ends',
    '\uFEFF\\set x 1\r\nselect :x;\r\n',
    ['a.sql:2:1 select 1'],
  ],
])('%s become the steps that psql would take', async (_, script, expected) => {
  expect(await steps({ 'a.sql': script })).toEqual(expected);
});

test('\\ir is relative to the including file and \\i to the root, and both share variables', async () => {
  const files = {
    'suites/a.sql': '\\set x 1\n\\ir lib/b.sql\nselect :x;',
    'suites/lib/b.sql': 'select :x;\n\\i other/c.sql\n',
    'other/c.sql': '\\set x 2\nselect 0',
  };
  expect(await steps(files)).toEqual([
    'suites/lib/b.sql:1:1 select 1',
    'other/c.sql:2:1 select 0',
    'suites/a.sql:3:1 select 2',
  ]);
});

test.each([
  ['another command', 'select 1;\n  \\gset', 'a.sql:2:3: \\gset is not supported'],
  ['a command after a statement', 'select 1 \\g', 'a.sql:1:10: \\g is not supported'],
  [
    'a second command on a line',
    '\\set x 1 \\copy t from y',
    'a.sql:1:10: \\copy is not supported',
  ],
  ['a file that is not there', '\\i none.sql', 'a.sql:1:1: cannot read none.sql'],
  ['an include without a file', '\\ir', 'a.sql:1:1: \\ir needs a file'],
  ['a file that includes itself', '\\ir a.sql', 'a.sql:1:1: a.sql includes itself'],
  [
    'a quote that never closes',
    "select 1;\nselect 'x;\n",
    'a.sql:2:1: a quote or comment opens here',
  ],
  ['a command to run', '\\set x `id`', 'a.sql:1:8: a `command` is not run here'],
])('%s is an error with its place', async (_, script, message) => {
  const thrown: unknown = await steps({ 'a.sql': script }).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(KitError);
  expect((thrown as KitError).message).toContain(message);
  expect((thrown as KitError).exitCode).toBe(65);
});
