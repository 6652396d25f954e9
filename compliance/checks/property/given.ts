/** What a property is given to work with. */
import type { Observation, Run, Sandbox, Task } from '../../types.ts';

export type Given<Data> = { data: Data; task: Task; sandbox: Sandbox; run: Run };

/** Observations for the checks of one clause, where a file serves several. */
export function forClause(
  clause: string,
  { specs }: Task,
  observations: readonly Observation[],
): Observation[] {
  return specs
    .filter((spec) => spec.clause === clause)
    .flatMap(({ id }) => observations.map((one) => ({ ...one, check: id })));
}
