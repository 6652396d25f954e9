import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lineAndColumn } from './position.ts';
import { parseInstall, readInstall } from './read.ts';

test('a table of contents gives its files in order', () => {
  const text = [
    '-- what it is',
    '\\set ON_ERROR_STOP on',
    '',
    'begin;',
    '\\ir a.sql',
    '  \\ir b/c.sql  ',
    'commit;',
    '',
  ];
  const includes = [
    { path: 'a.sql', line: 5 },
    { path: 'b/c.sql', line: 6 },
  ];
  expect(parseInstall(text.join('\n'), 'install.sql')).toEqual(includes);
  expect(parseInstall(text.join('\r\n'), 'install.sql')).toEqual(includes);
});

test.each([
  ['begin;\n\\ir a.sql\nselect 1;\ncommit;', 'install.sql:3:1: unexpected "select 1;"'],
  ['begin;\n\\i a.sql\ncommit;', 'install.sql:2:1: unexpected "\\\\i a.sql"'],
  ['begin;\n\\ir a.sql b.sql\ncommit;', 'install.sql:2:1: unexpected'],
  ['\\set ON_ERROR_STOP off\nbegin;\n\\ir a.sql\ncommit;', 'install.sql:1:1: unexpected'],
  ['\\ir a.sql\nbegin;\ncommit;', 'install.sql:1:1: \\ir stands outside'],
  ['begin;\ncommit;\n\\ir a.sql', 'install.sql:3:1: \\ir stands outside'],
  ['begin;\n\\ir a.sql\n', 'install.sql:1:1: begin; or commit; is missing'],
  ['begin;\ncommit;', 'install.sql:1:1: no file is included'],
  ['begin;\nbegin;\n\\ir a.sql\ncommit;', 'install.sql:2:1: unexpected "begin;"'],
])('%j is refused with its place', (text, message) => {
  expect(() => parseInstall(text, 'install.sql')).toThrow(
    expect.objectContaining({ exitCode: 70, message: expect.stringContaining(message) as string }),
  );
});

test('a file that is missing is named with the line that asks for it', async () => {
  const root = await mkdtemp(join(tmpdir(), 'd45-read-'));
  try {
    const sqlDir = join(root, 'sql');
    await expect(readInstall(sqlDir)).rejects.toMatchObject({
      exitCode: 70,
      message: expect.stringMatching(/^sql\/install\.sql:1:1: /) as string,
    });
    await mkdir(sqlDir);
    await writeFile(
      join(sqlDir, 'install.sql'),
      'begin;\n\\ir there.sql\n\\ir gone.sql\ncommit;\n',
    );
    await writeFile(join(sqlDir, 'there.sql'), 'select 1;\n');
    await expect(readInstall(sqlDir)).rejects.toThrow(/^sql\/install\.sql:3:1: .*gone\.sql/);
    await writeFile(join(sqlDir, 'gone.sql'), '');
    expect(await readInstall(sqlDir)).toEqual([
      { file: 'sql/there.sql', sql: 'select 1;\n' },
      { file: 'sql/gone.sql', sql: '' },
    ]);
  } finally {
    await rm(root, { recursive: true });
  }
});

test.each([
  ['abc', 1, 1, 1],
  ['abc', 3, 1, 3],
  ['a\nbc', 3, 2, 1],
  ['đ€😀\nx😀y', 7, 2, 3],
  ['a\r\nb', 4, 2, 1],
  ['', 1, 1, 1],
  ['ab', 99, 1, 3],
])('character %#: in %j position %i is line %i, column %i', (text, position, line, col) => {
  expect(lineAndColumn(text, position)).toEqual({ line, col });
});
