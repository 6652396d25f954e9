/** Runs one task against one mutant, as the runner runs it, and judges what it saw. */
import { KitError } from '../errors.ts';
import { execute } from '../run/execute.ts';
import { limitOf, taskKey } from '../run/plan.ts';
import { kinds, runnerOf } from '../run/registry.ts';
import type { CheckResult, Sandbox, Server, Task } from '../types.ts';
import { exits } from '../verdict/exit.ts';
import { judge } from '../verdict/judge.ts';
import type { Try } from './hunt.ts';
import { plantMutant } from './plant.ts';

export type Given = {
  server: Server;
  /** The template with the unchanged substrate. */
  template: string;
  root: string;
  seed: number;
  signal: AbortSignal;
};

/** A mutant may make a check wait for what never comes; a healthy check needs a small part of this. */
const LIMIT_MS = 60_000;

/** Runs a task on the mutant, once the same task was green on the unchanged substrate. */
export function attempts(given: Given): Try {
  const green = new Map<string, Promise<void>>();
  return async (task, mutant) => {
    const key = task.specs.map(taskKey)[0] ?? '';
    const baseline =
      green.get(key) ??
      judged(task, given, () => Promise.resolve()).then((results) => {
        refuseRed(results);
      });
    green.set(key, baseline);
    await baseline;
    return judged(task, given, (sandbox) => plantMutant(sandbox, mutant));
  };
}

async function judged(
  task: Task,
  { server, template, root, seed, signal }: Given,
  change: (sandbox: Sandbox) => Promise<void>,
): Promise<CheckResult[]> {
  let refused: { thrown: unknown } | undefined;
  const { seen, ended } = await execute(task, {
    run: await runnerOf(kinds, task.kind),
    sandbox: async () => {
      const sandbox = await server.sandbox(template);
      try {
        await change(sandbox);
        return sandbox;
      } catch (thrown) {
        refused = { thrown };
        await sandbox[Symbol.asyncDispose]();
        throw thrown;
      }
    },
    root,
    seed,
    exhaustive: false,
    limitMs: Math.min(limitOf(task), LIMIT_MS),
    graceMs: 2_000,
    signal,
    progress: () => undefined,
  });
  if (refused !== undefined) throw refused.thrown;
  return task.specs.map((spec) => {
    const observations = seen.filter(({ check }) => check === undefined || check === spec.id);
    const verdict = judge(spec, observations, ended);
    return { spec, verdict, observations, elapsedMs: ended.elapsedMs };
  });
}

/** What is not green by itself cannot show that a mutant turned it red. */
function refuseRed(results: readonly CheckResult[]): void {
  const red = results.find(({ verdict }) => verdict.status === 'failed');
  if (red === undefined) return;
  throw new KitError(
    exits.kit,
    `${red.spec.id} fails on the substrate as it is: ${red.verdict.reasons[0] ?? ''}`,
    'make the gate green first',
  );
}
