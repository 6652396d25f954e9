/**
 * plpgsql_check has nothing to say of any function: not of errors that only a rare path would meet, not
 * of variables that nobody reads. It needs a server that has the extension, which no embedded one does.
 */
import { access, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { expect, test } from 'vitest';
import { openTarget } from '../target/index.ts';
import type { Session } from '../types.ts';
import { installSubstrate } from './index.ts';

const root = join(import.meta.dirname, '../..');
const servers = '/usr/lib/postgresql';

/** The programs of an installed server that has the extension. */
async function programs(): Promise<string> {
  for (const major of (await readdir(servers).catch(() => [])).toReversed()) {
    const control = `/usr/share/postgresql/${major}/extension/plpgsql_check.control`;
    const found = await access(control).then(
      () => true,
      () => false,
    );
    if (found) return join(servers, major, 'bin');
  }
  throw new Error('no server has plpgsql_check: apt-get install postgresql-15-plpgsql-check');
}

/** Every PL/pgSQL function of ours, a trigger's with each table that it stands on. */
const MESSAGES = `
  with ours as (
    select p.oid, coalesce(t.tgrelid, 0) as relation
      from pg_catalog.pg_proc p
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      join pg_catalog.pg_language l on l.oid = p.prolang
      left join pg_catalog.pg_trigger t on t.tgfoid = p.oid
     where l.lanname = 'plpgsql' and n.nspname in ('public', 'dot_queue')
  )
  select o.oid::regprocedure::text as function, c.lineno, c.level, c.message, c.detail
    from ours o
   cross join lateral plpgsql_check_function_tb(
           o.oid, o.relation, fatal_errors := false, other_warnings := true,
           extra_warnings := true, performance_warnings := false, security_warnings := true) c
   order by 1, 2`;

/** What it says without need: it does not see that a loop is left by nothing but a return. */
const KNOWN = [
  'dot_queue.enqueue_one: control reached end of function without RETURN',
  'dot_queue.lock_heads: control reached end of function without RETURN',
  // A row among other results, on purpose: the caller goes on with it.
  'dot_queue.lease_call: composite OUT variable "job" is not single argument',
];

test('plpgsql_check is silent, and speaks of a function that is wrong', async () => {
  const target = openTarget(`local:${await programs()}`, { env, tmpDir: tmpdir(), root });
  await using server = await target.open(new AbortController().signal);
  await server.template('queue', async (session) => {
    await installSubstrate(session, join(root, 'sql'));
    await session.query('create extension plpgsql_check');
  });
  await using sandbox = await server.sandbox('queue');
  await using session = await sandbox.session('plpgsql_check');
  expect(await messages(session)).toEqual(KNOWN.toSorted());
  await session.query(`create function public.wrong() returns void language plpgsql as
    $$ declare v_unread integer; begin perform no_such_column from public.job_queue; end $$`);
  const said = await session.query<{ message: string }>(MESSAGES);
  expect(said.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      'column "no_such_column" does not exist',
      'unused variable "v_unread"',
    ]),
  );
});

async function messages(session: Session): Promise<string[]> {
  const rows = await session.query<{ function: string; message: string }>(MESSAGES);
  return rows.map((row) => `${row.function.replace(/\(.*/, '')}: ${row.message}`).toSorted();
}
