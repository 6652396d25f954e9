/**
 * The check kind `race`: named sessions, steps, and every order in which they can be taken
 * (clauses.md). One file is one scenario, perhaps in several cases. A file gives, for each case, its
 * assertions and three more: no mishap, the invariants, and equality with some serial order.
 */
import { CoverageError } from '../../errors.ts';
import type { Observation, Run, RunCheck, Sandbox, Task } from '../../types.ts';
import { missingContractObject } from '../missing.ts';
import { known } from './known.ts';
import { loadInvariants, scenariosOf, sourceOf } from './load.ts';
import {
  holdsRecipes,
  pairsOf,
  recipesFor,
  recipesOf,
  writingFunctions,
  type Recipes,
} from './pairs.ts';
import {
  boardObservations,
  newBoard,
  observations,
  rehearse,
  type Counts,
  type Rehearsal,
} from './rehearse.ts';
import type { Invariant, Scenario } from './scenario.ts';
import { openTheatre, setupFailure, type Theatre } from './theatre.ts';

/** What must hold after every order of every race. */
export const INVARIANTS = 'selftest/races/invariants.yaml';

/** @throws KitError 65 for mistakes in the file, CoverageError when an assertion concerned no order. */
export const run: RunCheck = async function* (task, sandbox, how) {
  const source = await sourceOf(task.file, how.root);
  const invariants = await loadInvariants(INVARIANTS, how.root);
  if (holdsRecipes(source)) {
    yield* runPairs(recipesOf(source), task, sandbox, { ...how, invariants });
  } else {
    yield* runScenarios(scenariosOf(source), task, sandbox, { ...how, invariants });
  }
};

type How = Run & { invariants: readonly Invariant[] };

async function* runScenarios(
  scenarios: readonly Scenario[],
  task: Task,
  sandbox: Sandbox,
  how: How,
): AsyncGenerator<Observation> {
  const first = known(scenarios[0], 'a scenario');
  await using theatre = await openTheatre(sandbox, first);
  yield { is: 'count', name: 'steered_functions', value: theatre.steered };
  for (const scenario of scenarios) {
    const label = scenario.case === '' ? task.file : `${task.file} (${scenario.case})`;
    const progress = (order: number): void => {
      how.progress(`${label}: order ${order}`);
    };
    try {
      const rehearsal = await rehearse(theatre, scenario, { ...how, progress });
      yield* mine(task, observations(rehearsal));
      yield* countsOf(rehearsal.counts);
      refuseIdle(scenario, rehearsal, task.file);
    } catch (thrown) {
      yield missingPart(thrown);
      return;
    }
  }
  refuseUnsteered(first, theatre);
}

async function* runPairs(
  recipes: Recipes,
  task: Task,
  sandbox: Sandbox,
  how: How,
): AsyncGenerator<Observation> {
  const board = newBoard((name) => ({ name, at: recipes.common.at }));
  const { clock } = recipes.common;
  await using theatre = await openTheatre(sandbox, {
    clock,
    sessions: [{ name: 'a' }, { name: 'b' }],
  });
  const functions = await writingFunctions(theatre.control);
  const scenarios = pairsOf(recipesFor(functions, recipes, task.file), recipes);
  yield { is: 'count', name: 'functions', value: functions.length };
  yield { is: 'count', name: 'steered_functions', value: theatre.steered };
  yield { is: 'count', name: 'scenarios', value: scenarios.length };
  for (const [index, scenario] of scenarios.entries()) {
    how.progress(`${scenario.case} (${index + 1} of ${scenarios.length})`);
    const { counts } = await rehearse(theatre, scenario, {
      ...how,
      board,
      progress: () => undefined,
    });
    yield* countsOf(counts);
  }
  yield* boardObservations(board);
  refuseUnsteered(recipes.common, theatre);
}

function refuseUnsteered({ clock }: Pick<Scenario, 'clock'>, { steered }: Theatre): void {
  if (clock === 'steered' && steered === 0)
    throw new CoverageError(
      'no function reads clock_timestamp(), so the steered clock moved nothing',
    );
}

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
