/**
 * One mutant and the checks that may catch it: those of its clause first, the cheap ones before the
 * dear ones, each in a database of its own, until one of the right clause turns red. No check was red
 * on the unchanged substrate before (mutation analysis: DeMillo, Lipton and Sayward 1978).
 */
import { weightOf } from '../run/plan.ts';
import type { CheckResult, CheckSpec, Kind, Observation, Task } from '../types.ts';
import type { Mutant } from './mutant.ts';
import { RefusedMutant, StaleMutant } from './plant.ts';

export type Fate = 'killed' | 'killed_elsewhere' | 'survived' | 'stale' | 'refused' | 'error';
export type Hunted = {
  mutant: Mutant;
  fate: Fate;
  /** The checks that turned red, those of the right clause first. */
  killers: readonly CheckResult[];
  /** What kept it from being judged, or what checks threw on the way. */
  because: readonly string[];
  /** How many executions it took. */
  executions: number;
  elapsedMs: number;
};

/** Runs one task against the mutant, and judges it. @throws StaleMutant, RefusedMutant */
export type Try = (task: Task, mutant: Mutant) => Promise<readonly CheckResult[]>;

/** Never throws for what a mutant does; throws what `attempt` throws otherwise. */
export async function hunt(mutant: Mutant, tasks: readonly Task[], attempt: Try): Promise<Hunted> {
  const began = performance.now();
  const elsewhere: CheckResult[] = [];
  const because: string[] = [];
  let executions = 0;
  const end = (fate: Fate, killers: readonly CheckResult[]): Hunted => ({
    mutant,
    fate,
    killers,
    because,
    executions,
    elapsedMs: Math.round(performance.now() - began),
  });
  try {
    for (const task of inOrder(tasks, mutant)) {
      executions += 1;
      const results = await attempt(task, mutant);
      const red = results.filter(({ verdict }) => verdict.status === 'failed');
      const right = red.filter(({ spec }) => spec.clause === mutant.clause);
      if (right.length > 0) return end('killed', [...right, ...elsewhere]);
      elsewhere.push(...red);
      for (const { spec, verdict } of results)
        if (verdict.status === 'error')
          because.push(`${spec.id}: ${verdict.reasons[0] ?? 'error'}`);
    }
  } catch (thrown) {
    const fate = thrown instanceof StaleMutant ? 'stale' : 'refused';
    if (!(thrown instanceof StaleMutant) && !(thrown instanceof RefusedMutant)) throw thrown;
    because.push(thrown.message);
    return end(fate, []);
  }
  if (elsewhere.length > 0) return end('killed_elsewhere', elsewhere);
  return end(because.length > 0 ? 'error' : 'survived', []);
}

/** Kinds that are not asked about what is another clause's business: what is cheap tells enough. */
const DEAR: ReadonlySet<Kind> = new Set<Kind>([
  'race',
  'plan',
  'property',
  'matrix',
  'explore',
  'claimers',
  'timed',
]);

/** The right clause's tasks, the cheap ones first; then what else can tell soon. */
function inOrder(tasks: readonly Task[], { clause }: Mutant): Task[] {
  const right = ({ specs }: Task): boolean => specs.some((spec) => spec.clause === clause);
  const cheapFirst = tasks.toSorted((a, b) => weightOf(a) - weightOf(b));
  return [
    ...cheapFirst.filter(right),
    ...cheapFirst.filter((task) => !right(task) && !DEAR.has(task.kind)),
  ];
}

/** What is said of a killer: its first broken assertion. */
export function firstBreach({
  observations,
  spec,
}: CheckResult): Extract<Observation, { is: 'assertion' }> | undefined {
  return observations.find(
    (one): one is Extract<Observation, { is: 'assertion' }> =>
      one.is === 'assertion' && !one.ok && (one.check === undefined || one.check === spec.id),
  );
}

/** By clause: how many of its mutants its own checks kill, and how many checks did that. */
export type Score = { clause: string; killed: number; of: number; checks: number };

/** The clauses that have mutants, in the order given. A refused or stale mutant counts as not killed. */
export function scores(hunted: readonly Hunted[], clauses: readonly string[]): Score[] {
  return clauses.flatMap((clause) => {
    const mine = hunted.filter(({ mutant }) => mutant.clause === clause);
    if (mine.length === 0) return [];
    const killed = mine.filter(({ fate }) => fate === 'killed');
    const checks = new Set<CheckSpec['id']>(
      killed.flatMap(({ killers }) =>
        killers.filter(({ spec }) => spec.clause === clause).map(({ spec }) => spec.id),
      ),
    );
    return [{ clause, killed: killed.length, of: mine.length, checks: checks.size }];
  });
}
