/**
 * `scripts/bench`: how fast jobs are claimed and completed on a throwaway server, beside the textbook
 * queue in the same run. Rounds of the two alternate, and only their ratio is worth comparing between
 * two runs or machines.
 */
import { tmpdir } from 'node:os';
import path from 'node:path';
import host, { argv, env, stderr, stdout } from 'node:process';
import pg from 'pg';
import { KitError, messageOf } from '../errors.ts';
import { installSubstrate } from '../substrate/index.ts';
import { openTarget } from '../target/index.ts';
import type { Sandbox } from '../types.ts';
import { contenders, SETUP } from './contenders.ts';
import { fill, playRound, type Round } from './load.ts';
import { readOptions, type BenchOptions } from './options.ts';
import { HEADINGS, line, table, type Cell } from './summary.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

async function bench(options: BenchOptions, signal: AbortSignal): Promise<void> {
  const target = openTarget(options.target, { env, tmpDir: tmpdir(), root: ROOT });
  await using server = await target.open(signal);
  await server.template('bench', async (session) => {
    await installSubstrate(session, path.join(ROOT, 'sql'));
    await session.query(SETUP);
  });
  await using sandbox = await server.sandbox('bench');
  const cells: Cell[] = [];
  for (const clients of options.clients)
    for (const batch of options.batches)
      cells.push(await play(sandbox, { ...options, clients, batch }, signal));
  const { rounds, seconds, jobs } = options;
  stdout.write(`${table([HEADINGS, ...cells.map(line)])}\n`);
  stdout.write(`${rounds} rounds each of ${jobs} jobs or ${seconds} s, fsync off\n`);
}

type Play = Omit<BenchOptions, 'clients'> & { clients: number; batch: number };

async function play(
  sandbox: Sandbox,
  { clients: count, batch, rounds, seconds, jobs }: Play,
  signal: AbortSignal,
): Promise<Cell> {
  const settings = sandbox.server.connection(sandbox.database);
  const clients = Array.from({ length: count }, () => new pg.Client(settings));
  try {
    await Promise.all(clients.map((client) => client.connect()));
    const [first] = clients;
    if (first === undefined) throw new Error('a round without a client');
    const seen: Record<'textbook' | 'dieu45', Round[]> = { textbook: [], dieu45: [] };
    // The first round warms plans and caches, and does not count.
    for (let round = 0; round <= rounds; round += 1) {
      for (const contender of contenders) {
        stderr.write(`${count} clients, batch ${batch}, round ${round}, ${contender.name}\n`);
        await fill(first, contender, jobs);
        const played = await playRound(clients, contender, {
          batch,
          limitMs: seconds * 1_000,
          signal,
        });
        if (round > 0) seen[contender.name].push(played);
      }
    }
    return { clients: count, batch, ...seen };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  host.once(name, () => {
    interrupted.abort(new KitError(130, `interrupted by ${name}`));
  });
try {
  await bench(readOptions(argv.slice(2)), interrupted.signal);
} catch (error) {
  const { exitCode, hint } = error instanceof KitError ? error : { exitCode: 70, hint: undefined };
  stderr.write(`${messageOf(error)}\n${hint === undefined ? '' : `${hint}\n`}`);
  host.exitCode = exitCode;
}
