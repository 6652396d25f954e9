import { expect, test } from 'vitest';
import { grantsStated, may, mayCall, readable, relationsOf } from './model.ts';
import { privilegesFile } from './schema.ts';

const file = privilegesFile.parse({
  matrix: 'privileges',
  clause: 's11.5',
  title: 'a test',
  owner: 'boss',
  roles: ['boss', 'reader', 'worker'],
  functions: { 'work(uuid)': ['worker'], 'inner()': [] },
  tables: { jobs: { reader: { all_but: ['secret'] } } },
  views: { v_jobs: { reader: 'all' } },
  sequences: [],
  host: {
    functions: ['host_fn(text)'],
    tables: { log: { owner: ['select', 'insert'], readers: { reader: 'all' } } },
    sequences: [],
  },
  public_schema: { boss: ['usage'] },
  closed_schemas: { private: { asked_by_views: { 'helper(text)': ['reader'] } } },
});
const [jobs, , log] = relationsOf(file);

const calls = [
  ['worker', 'work(uuid)', true],
  ['reader', 'work(uuid)', false],
  ['boss', 'inner()', true],
  ['worker', 'inner()', false],
  ['boss', 'host_fn(text)', false],
  ['worker', 'nothing()', false],
] as const;

test.each(calls)('%s calls %s: %s', (role, signature, allowed) => {
  expect(mayCall(file, role, signature)).toBe(allowed);
});

test('a reader reads what is not held back, a stranger nothing, the owner all', () => {
  const columns = ['id', 'secret'];
  if (!jobs) throw new Error('jobs is in the file');
  expect(readable(file, 'reader', jobs, columns)).toEqual(['id']);
  expect(readable(file, 'worker', jobs, columns)).toEqual([]);
  expect(readable(file, 'boss', jobs, columns)).toEqual(columns);
});

test('nobody but the owner writes, and the owner not everything on a table of the host', () => {
  if (!jobs || !log) throw new Error('both are in the file');
  expect(may('boss', 'boss', jobs, 'delete')).toBe(true);
  expect(may('boss', 'boss', log, 'delete')).toBe(false);
  expect(may('boss', 'boss', log, 'insert')).toBe(true);
  expect(may('boss', 'reader', jobs, 'insert')).toBe(false);
});

test('the grants that must be there are these and no other', () => {
  expect(grantsStated(file, () => ['id', 'secret'])).toEqual([
    'execute on private.helper(text) to reader',
    'execute on work(uuid) to worker',
    'insert on log to boss',
    'select on jobs.id to reader',
    'select on log to boss',
    'select on log to reader',
    'select on v_jobs to reader',
    'usage on schema public to boss',
  ]);
});
