/** What the tests of race and explore share: a server, and a scenario from a text. Tests only. */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openTarget } from '../../target/index.ts';
import { readSource } from '../../manifest/source.ts';
import type { Observation, RunCheck, Sandbox, Server, Session, Task } from '../../types.ts';
import { installSubstrate } from '../../substrate/index.ts';
import { known } from './known.ts';
import { scenariosOf } from './load.ts';
import { rehearse, observations, type Rehearsal } from './rehearse.ts';
import type { Invariant, Scenario } from './scenario.ts';
import { openTheatre } from './theatre.ts';

export const ROOT = path.resolve(import.meta.dirname, '../../..');

export async function openServer(): Promise<Server> {
  const target = openTarget('embedded', { env: {}, tmpDir: tmpdir(), root: ROOT });
  return target.open(new AbortController().signal);
}

/** The one scenario of a YAML text. @throws KitError 65 */
export function scenario(yaml: string): Scenario {
  return known(scenariosOf(readSource(yaml, 'test.yaml'))[0], 'a scenario');
}

/** Runs a scenario without the queue's invariants. */
export async function rehearsed(
  sandbox: Sandbox,
  yaml: string,
  invariants: readonly Invariant[] = [],
): Promise<Rehearsal> {
  const one = scenario(yaml);
  await using theatre = await openTheatre(sandbox, one);
  const signal = new AbortController().signal;
  return await rehearse(theatre, one, { seed: 1, exhaustive: true, signal, invariants });
}

/** The broken assertions of a rehearsal, as name → what was seen. */
export function breaches(rehearsal: Rehearsal): Record<string, string> {
  return brokenOf(observations(rehearsal));
}

export function brokenOf(seen: readonly Observation[]): Record<string, string> {
  return Object.fromEntries(
    seen.flatMap((one) => (one.is === 'assertion' && !one.ok ? [[one.name, one.seen ?? '']] : [])),
  );
}

/** Runs a check as the runner would, and collects what it says. */
export async function runCheck(
  run: RunCheck,
  file: string,
  sandbox: Sandbox,
  { ids = ['s0.test'], seed = 1 }: { ids?: readonly string[]; seed?: number } = {},
): Promise<Observation[]> {
  const seen: Observation[] = [];
  const task = { kind: 'race', file, specs: ids.map((id) => ({ id })) } as unknown as Task;
  const how = {
    seed,
    exhaustive: true,
    signal: new AbortController().signal,
    root: ROOT,
    scratch: tmpdir(),
    progress: () => undefined,
  };
  for await (const one of run(task, sandbox, how)) seen.push(one);
  return seen;
}

/** Installs the queue as it stands in `sql/`. */
export async function installQueue(session: Session): Promise<void> {
  await installSubstrate(session, path.join(ROOT, 'sql'));
}

/** Breaks a function on purpose: each edit must find its text. */
export async function breakFunction(
  sandbox: Sandbox,
  name: string,
  edits: readonly (readonly [find: RegExp, put: string])[],
): Promise<void> {
  await using session = await sandbox.session('breaks a function');
  const [row] = await session.query<{ text: string }>(
    'select pg_catalog.pg_get_functiondef($1::regproc) as text',
    [name],
  );
  let text = known(row, name).text;
  for (const [find, put] of edits) {
    if (!find.test(text)) throw new Error(`${name} has no ${String(find)}`);
    text = text.replace(find, put);
  }
  await session.query(text);
}
