/** The victim of the tests: opens a cluster, says so on one line, and waits. Tests only. */
import { argv, getuid, stdout } from 'node:process';
import pg from 'pg';
import { openCluster } from './cluster.ts';
import { tracesOf } from './testing.ts';

const [, , native = '', tmpDir = ''] = argv;
const cluster = await openCluster({
  programs: { native },
  env: {},
  tmpDir,
  signal: new AbortController().signal,
  progress: () => undefined,
});
const client = new pg.Client(cluster.connection('postgres'));
await client.connect();
await client.query('create table t as select generate_series(1, 1000)');
stdout.write(`${JSON.stringify({ traces: await tracesOf(cluster), whoami: getuid?.() })}\n`);
// A query that runs for ever: neither the client nor its backend ends by itself.
await client.query('do $$ begin loop perform pg_sleep(0.01); end loop; end $$');
