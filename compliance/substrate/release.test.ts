import { expect, test } from 'vitest';
import { buildForm } from './release.ts';

const files = [
  { file: 'sql/host/check.sql', sql: 'select 1;\n' },
  { file: 'sql/tables/job_queue.sql', sql: 'create table q ();\n' },
  { file: 'sql/seed.sql', sql: 'select seed();\n' },
];
const extra = [
  { file: 'sql/extension/refuse_host_tables.sql', sql: 'select refuse();\n' },
  { file: 'sql/extension/mark_for_dump.sql', sql: 'select mark();\n' },
];

test('the extension form seeds nothing, marks its tables for dump and refuses host tables', () => {
  const text = buildForm('extension', files, extra);
  expect(text).toMatch(/^\\echo .* \\quit$/m);
  expect(text).toContain('select refuse();');
  expect(text).toContain('select mark();');
  expect(text).not.toContain('seed()');
  expect(text).not.toContain('begin;');
});

test('the plain form is the whole source in one transaction', () => {
  const text = buildForm('plain', files, extra);
  for (const { sql } of files) expect(text).toContain(sql.trim());
  expect(/^begin;$/m.exec(text)).not.toBeNull();
  expect(text.trimEnd().endsWith('commit;')).toBe(true);
  expect(text).not.toContain('mark()');
});

test('a form that names a file which the source has lost is an error', () => {
  expect(() => buildForm('extension', files.slice(1), extra)).toThrow('host/check.sql');
});
