import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CoverageError } from '../../errors.ts';
import type { Observation, Sandbox, Server } from '../../types.ts';
import { openQueueServer, spec, told, type Told } from '../testing.ts';
import { clauseOf, run } from './index.ts';

let server: Server;
let root = '';
let sandbox: Sandbox;
beforeAll(async () => {
  server = await openQueueServer();
  root = await mkdtemp(path.join(tmpdir(), 'dieu45-suites-'));
  // Every suite rolls back, so one database serves them all.
  sandbox = await server.sandbox('empty');
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

const HEAD = 'begin;\nset local search_path = public, tap;\n';

/** Runs the lines of a suite for clauses s1 and s2; the first stands in line 3. */
async function suite(...lines: string[]): Promise<Told> {
  await writeFile(path.join(root, 'suite.sql'), `${HEAD}${lines.join('\n')}\nrollback;\n`);
  const specs = [spec('pgtap', 'suite.sql', 's1'), spec('pgtap', 'suite.sql', 's2')] as const;
  return told(run, sandbox, [...specs], root);
}

const assertions = (seen: readonly Observation[]): Observation[] =>
  seen.filter(({ is }) => is === 'assertion');

test('each assertion goes to the check of its clause, with the place of its statement', async () => {
  const { seen, threw } = await suite(
    'select plan(4);',
    "select is(1, 1, 's1: one');",
    "select is(n, 2, 's2: two of ' || n)",
    '  from generate_series(2, 3) n;',
    "select ok(true, 's3: nobody asked');",
    'select * from finish();',
  );
  expect(threw).toBeUndefined();
  expect(assertions(seen)).toEqual([
    {
      check: 's1.test',
      is: 'assertion',
      name: 'one',
      ok: true,
      at: { file: 'suite.sql', line: 4, col: 1 },
      trace: [],
    },
    {
      check: 's2.test',
      is: 'assertion',
      name: 'two of 2',
      ok: true,
      at: { file: 'suite.sql', line: 5, col: 1 },
      trace: [],
    },
    {
      check: 's2.test',
      is: 'assertion',
      name: 'two of 3',
      ok: false,
      at: { file: 'suite.sql', line: 5, col: 1 },
      seen: '3',
      expected: '2',
      trace: [],
    },
  ]);
});

test('what a suite printed is kept as a file', async () => {
  const { seen } = await suite('select plan(1);', "select pass('s1: x');");
  expect(seen[0]).toMatchObject({ is: 'file', name: 'suite.tap' });
});

test.each([
  [
    'a short plan',
    ['select plan(2);', "select pass('s1: x');"],
    'suite.sql: the plan is short: 2 tests planned, 1 ran',
  ],
  [
    'a long run',
    ['select plan(1);', "select pass('s1: x');", "select pass('s1: y');"],
    'the plan is exceeded: 1 test planned, 2 ran',
  ],
  ['no plan', ["select 'ok 1 - s1: x';"], 'there is no plan'],
  [
    'a plan that comes last',
    ['select * from no_plan();', "select pass('s1: x');", 'select * from finish();'],
    'the plan came last',
  ],
  ['a plan of nothing', ["select '1..0 # SKIP no time';"], 'the plan is 1..0'],
  [
    'SKIP',
    ['select plan(1);', "select skip('s1: no time', 1);"],
    'test 1 is marked SKIP: s1: no time',
  ],
  [
    'TODO',
    ['select plan(1);', "select todo('later', 1);", "select fail('s1: x');"],
    'test 1 is marked TODO: later',
  ],
  [
    'a description without a clause',
    ['select plan(1);', "select pass('x');"],
    'test 1 at suite.sql:4:1 names no clause: "x"',
  ],
  ['nothing at all', [], 'there is no plan: 0 tests ran'],
  [
    'an error in the middle',
    ['select plan(2);', "select pass('s1: x');", 'select 1,', '  1 / 0;', "select pass('s1: y');"],
    'suite.sql:5:1: division by zero (SQLSTATE 22012); the rest',
  ],
  [
    'a mistake, with its place',
    ['select plan(1);', 'select 1,', '  nonsense;'],
    'suite.sql:5:3: column "nonsense" does not exist (SQLSTATE 42703); the rest',
  ],
  [
    'an error inside an assertion',
    [
      'select plan(1);',
      "select is(1 / (select count(*)::int from pg_class where false), 1, 's1: x');",
    ],
    'suite.sql:4:1: division by zero',
  ],
  [
    'COPY, which needs a terminal',
    ['create temp table t(n int);', 'copy t from stdin;'],
    'suite.sql:4:1: ',
  ],
])('%s is a gap in coverage, never green', async (_, lines, message) => {
  const { threw } = await suite(...lines);
  expect(threw).toBeInstanceOf(CoverageError);
  expect((threw as Error).message).toContain(message);
});

test('an assertion that failed before the suite broke off is still told', async () => {
  const { seen, threw } = await suite('select plan(2);', "select fail('s1: x');", 'select 1 / 0;');
  expect(assertions(seen)).toMatchObject([{ check: 's1.test', ok: false }]);
  expect(threw).toBeInstanceOf(CoverageError);
});

test('a missing part of the queue fails the suite’s checks instead of breaking them', async () => {
  const { seen, threw } = await suite(
    'select plan(1);',
    "select is(public.fn_job_get(null), null, 's1: x');",
  );
  expect(threw).toBeUndefined();
  expect(assertions(seen)).toEqual([
    {
      is: 'assertion',
      name: 'fn_job_get of the contract is there',
      ok: false,
      seen: 'suite.sql:4:11: function public.fn_job_get(unknown) does not exist (SQLSTATE 42883)',
      at: { file: 'suite.sql', line: 4, col: 11 },
    },
  ]);
});

test.each([
  ['s8.3: a lease', 's8.3'],
  ['dp3.5: an index', 'dp3.5'],
  ['self_test: a key', 'self_test'],
  ['d31: x: y', 'd31'],
  ['§8.3: a lease', undefined],
  ['a lease: s8.3', undefined],
  ['s8.3 a lease', undefined],
])('"%s" speaks for %s', (description, clause) => {
  expect(clauseOf(description)).toBe(clause);
});
