/** What the tests of several check kinds share: a server with the queue on it, and a check run as the runner does. Tests only. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installSubstrate } from '../substrate/index.ts';
import { installPgtap, openTarget } from '../target/index.ts';
import type { CheckSpec, Kind, Observation, Run, RunCheck, Sandbox, Server } from '../types.ts';

export const ROOT = path.resolve(import.meta.dirname, '../..');

/** The project's own server, with two templates: `queue` has the substrate and pgTAP, `empty` pgTAP alone. */
export async function openQueueServer(): Promise<Server> {
  const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root: ROOT });
  const server = await target.open(new AbortController().signal);
  await server.template('queue', async (session) => {
    await installSubstrate(session, path.join(ROOT, 'sql'));
    await installPgtap(session);
  });
  await server.template('empty', async (session) => {
    await installPgtap(session);
  });
  return server;
}

/** A check of this clause on this file. */
export function spec(kind: Kind, file: string, clause: string): CheckSpec {
  return {
    id: `${clause}.test`,
    clause,
    title: 'A test.',
    kind,
    file,
    params: {},
    expects: 1,
    mustObserve: {},
    needs: [],
    limitMs: 60_000,
    at: { file: 'test.yaml', line: 1, col: 1 },
  };
}

export type Told = { seen: Observation[]; threw: unknown };

/** A fault in the SQL of a sandbox. */
export type Plant = (sandbox: Sandbox) => Promise<void>;

/** A sandbox with faults planted in it, and what a check is given besides; both are gone afterwards. */
export async function withFaults<T>(
  server: Server,
  plants: readonly Plant[],
  use: (sandbox: Sandbox, run: Run) => Promise<T>,
): Promise<T> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'dieu45-red-'));
  await using sandbox = await server.sandbox('queue');
  try {
    for (const plant of plants) await plant(sandbox);
    const signal = new AbortController().signal;
    const how = {
      seed: 1,
      exhaustive: true,
      signal,
      root: ROOT,
      scratch,
      progress: () => undefined,
    };
    return await use(sandbox, how);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Runs a check to its end: what it said, and what it threw, if anything. */
export async function told(
  run: RunCheck,
  sandbox: Sandbox,
  specs: readonly [CheckSpec, ...CheckSpec[]],
  root: string = ROOT,
): Promise<Told> {
  const seen: Observation[] = [];
  const scratch = await mkdtemp(path.join(tmpdir(), 'dieu45-test-'));
  const task = { kind: specs[0].kind, file: specs[0].file, specs };
  const signal = new AbortController().signal;
  try {
    const how = { seed: 1, exhaustive: true, signal, root, scratch, progress: () => undefined };
    for await (const one of run(task, sandbox, how)) seen.push(one);
    return { seen, threw: undefined };
  } catch (threw) {
    return { seen, threw };
  } finally {
    await rm(scratch, { recursive: true });
  }
}

/** `passed`, `failed`, or the message of what was thrown. */
export function outcome({ seen, threw }: Told): string {
  if (threw !== undefined) return threw instanceof Error ? threw.message : JSON.stringify(threw);
  const assertions = seen.filter((one) => one.is === 'assertion');
  if (assertions.length === 0) return 'no assertion';
  return assertions.every(({ ok }) => ok) ? 'passed' : 'failed';
}
