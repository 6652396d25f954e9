/** One round: clients that claim and complete until nothing is ready or the time is up. */
import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import type { Contender } from './contenders.ts';

export type Round = {
  /** Jobs that were claimed and completed. */
  jobs: number;
  elapsedMs: number;
  /** How long each claim took that found something. */
  claimMs: readonly number[];
};

type Held = { id: string; token: string };

/** Statements are named, so that the server keeps their plans, as a worker's pool does. */
export async function playRound(
  clients: readonly pg.Client[],
  { name, claim, complete }: Contender,
  { batch, limitMs, signal }: { batch: number; limitMs: number; signal: AbortSignal },
): Promise<Round> {
  const claimMs: number[] = [];
  let jobs = 0;
  const began = performance.now();
  const work = async (client: pg.Client): Promise<void> => {
    while (performance.now() - began < limitMs) {
      signal.throwIfAborted();
      const asked = performance.now();
      const { rows } = await client.query<Held>({
        name: `${name} claim`,
        text: claim,
        values: [batch],
      });
      if (rows.length === 0) return;
      claimMs.push(performance.now() - asked);
      await client.query({
        name: `${name} complete`,
        text: complete,
        values: [rows.map(({ id }) => id), rows.map(({ token }) => token)],
      });
      jobs += rows.length;
    }
  };
  await Promise.all(clients.map(work));
  return { jobs, elapsedMs: performance.now() - began, claimMs };
}

/** Empties a contender and gives it new jobs. */
export async function fill(
  client: pg.Client,
  { fill: steps }: Contender,
  jobs: number,
): Promise<void> {
  for (const text of steps) await client.query(text, text.includes('$1') ? [jobs] : []);
}
