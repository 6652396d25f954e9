import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTarget } from '../target/index.ts';
import { readFunction } from './api.ts';
import { installSubstrate, readInstall } from './index.ts';

const root = join(import.meta.dirname, '../..');

test('what the page says of a function is what the catalog and the code say', async () => {
  const files = await readInstall(join(root, 'sql'));
  const grants = files.find(({ file }) => file.endsWith('/grants.sql'))?.sql ?? '';
  const documented = files
    .filter(({ file }) => file.includes('/functions/'))
    .map((file) => readFunction(file, grants));

  const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root });
  await using server = await target.open(new AbortController().signal);
  await server.template('api', (session) => installSubstrate(session, join(root, 'sql')));
  await using sandbox = await server.sandbox('api');
  await using session = await sandbox.session('api');
  const deployed = await session.query<{
    name: string;
    args: number;
    volatility: string;
    roles: string[];
  }>(`
    select p.proname as name, p.pronargs as args, p.provolatile as volatility,
           array(select r.rolname::text
                   from pg_roles r
                  where r.rolname in ('dot_executor', 'dot_producer', 'workflow_admin', 'dot_auditor')
                    and has_function_privilege(r.oid, p.oid, 'execute')
                  order by 1) as roles
      from pg_proc p
     where p.pronamespace = 'public'::regnamespace
       and (p.proname like 'fn\\_job\\_%' or p.proname = 'fn_dead_letter_health')
     order by 1`);
  expect(
    documented
      .map((fn) => ({
        name: fn.name,
        args: fn.args.length,
        volatility: fn.volatility.charAt(0),
        roles: [...fn.roles].sort(),
      }))
      .sort((a, b) => a.name.localeCompare(b.name)),
  ).toEqual(deployed.sort((a, b) => a.name.localeCompare(b.name)));
});

test('a function without a header is an error, not an empty paragraph', () => {
  expect(() =>
    readFunction({ file: 'sql/functions/f.sql', sql: 'create function public.f()\n' }, ''),
  ).toThrow('sql/functions/f.sql: no public function with a header');
});
