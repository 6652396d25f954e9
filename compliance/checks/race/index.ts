/**
 * The check kind `race`: named sessions, steps, and every order in which they can be taken
 * (clauses.md). One file is one scenario, perhaps in several cases. A file gives, for each case, its
 * assertions and three more: no mishap, the invariants, and equality with some serial order.
 */
import { CoverageError } from '../../errors.ts';
import type { Observation, RunCheck, Task } from '../../types.ts';
import { missingContractObject } from '../missing.ts';
import { loadInvariants, loadScenarios } from './load.ts';
import { observations, rehearse, type Counts, type Rehearsal } from './rehearse.ts';
import type { Scenario } from './scenario.ts';
import { openTheatre, setupFailure } from './theatre.ts';

/** What must hold after every order of every race. */
export const INVARIANTS = 'selftest/races/invariants.yaml';

/** @throws KitError 65 for mistakes in the file, CoverageError when an assertion concerned no order. */
export const run: RunCheck = async function* (task, sandbox, how) {
  const { root, seed, signal } = how;
  const scenarios = await loadScenarios(task.file, root);
  const [first] = scenarios;
  if (first === undefined) throw new CoverageError(`${task.file}: no scenario in it`);
  const invariants = await loadInvariants(INVARIANTS, root);
  await using theatre = await openTheatre(sandbox, first);
  yield { is: 'count', name: 'steered_functions', value: theatre.steered };
  let orders = 0;
  for (const scenario of scenarios) {
    const label = scenario.case === '' ? task.file : `${task.file} (${scenario.case})`;
    try {
      const rehearsal = await rehearse(theatre, scenario, {
        seed,
        signal,
        invariants,
        progress: (order) => {
          how.progress(`${label}: order ${order}`);
        },
      });
      yield* mine(task, observations(rehearsal));
      yield* countsOf(rehearsal.counts);
      refuseIdle(scenario, rehearsal, task.file);
      orders += rehearsal.counts.orders;
    } catch (thrown) {
      yield missingPart(thrown);
      return;
    }
  }
  if (first.clock === 'steered' && theatre.steered === 0) {
    throw new CoverageError(
      `no function reads clock_timestamp(): ${orders} orders ran without a clock`,
    );
  }
};

/** Observations that belong to checks which were not selected are left aside. */
export function mine({ specs }: Task, seen: readonly Observation[]): Observation[] {
  return seen.filter(({ check }) => check === undefined || specs.some(({ id }) => id === check));
}

export function* countsOf(counts: Counts): Generator<Observation> {
  for (const [name, value] of Object.entries(counts)) yield { is: 'count', name, value };
}

/** An assertion that concerned no order has proven nothing. */
function refuseIdle(scenario: Scenario, { assertions }: Rehearsal, file: string): void {
  const idle = scenario.assertions.filter((_, index) => assertions[index]?.concerned() === 0);
  if (idle.length === 0) return;
  const names = idle.map(({ name, at }) => `${at.line}:${at.col} "${name}"`).join(', ');
  throw new CoverageError(`${file}: no order came about in which these could be checked: ${names}`);
}

/** A part of the contract that is not there is a finding; anything else is thrown on. */
export function missingPart(thrown: unknown): Observation {
  const failure = setupFailure(thrown);
  const missing = failure?.code && missingContractObject(failure.code, failure.message);
  if (failure === undefined || !missing) throw thrown;
  return { is: 'assertion', name: missing, ok: false, seen: failure.message, at: failure.at };
}
