/**
 * What the kinds race and explore have in common: a file of scenarios, or of recipes for every pair
 * of functions, run order by order in a theatre, and what is said of it.
 */
import { CoverageError } from '../../errors.ts';
import type { Observation, Run, RunCheck, Sandbox, Task } from '../../types.ts';
import { missingContractObject } from '../missing.ts';
import { known } from './known.ts';
import { loadInvariants, scenariosOf, sourceOf } from './load.ts';
import {
  holdsRecipes,
  loadRecipes,
  pairsOf,
  recipesFor,
  writingFunctions,
  type Recipes,
} from './pairs.ts';
import { boardObservations, newBoard, observations, rehearse, type Rehearsal } from './rehearse.ts';
import type { Invariant, Scenario } from './scenario.ts';
import type { Show } from './tally.ts';
import { setupFailure, type Opening, type Theatre } from './theatre.ts';

/** How a kind differs: the theatre it plays in, and how it draws an order that failed. */
export type Manner = {
  open(sandbox: Sandbox, opening: Opening): Promise<Theatre>;
  show?: Show;
};

/** What must hold after every order of every race. */
export const INVARIANTS = 'selftest/races/invariants.yaml';

/**
 * A file gives, for each case, its assertions and three more: no mishap, the invariants, and equality
 * with some serial order. A file of recipes gives those three for all pairs together. The check
 * throws KitError 65 for mistakes in the file, and CoverageError for an assertion that concerned no
 * order or a function without a recipe.
 */
export function checkBy(manner: Manner): RunCheck {
  return async function* (task, sandbox, run) {
    const source = await sourceOf(task.file, run.root);
    const how = { ...run, ...manner, invariants: await loadInvariants(INVARIANTS, run.root) };
    yield* holdsRecipes(source)
      ? runPairs(await loadRecipes(source, run.root), task, sandbox, how)
      : runScenarios(scenariosOf(source), task, sandbox, how);
  };
}

type How = Run & Manner & { invariants: readonly Invariant[] };

async function* runScenarios(
  scenarios: readonly Scenario[],
  task: Task,
  sandbox: Sandbox,
  how: How,
): AsyncGenerator<Observation> {
  const first = known(scenarios[0], 'a scenario');
  await using theatre = await how.open(sandbox, first);
  yield* countsOf(theatre.counts);
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
  const board = newBoard((name) => ({ name, at: recipes.common.at }), how.show);
  const { clock } = recipes.common;
  await using theatre = await how.open(sandbox, {
    clock,
    sessions: [{ name: 'a' }, { name: 'b' }],
  });
  const functions = await writingFunctions(theatre.control);
  const scenarios = pairsOf(recipesFor(functions, recipes, task.file), recipes);
  yield { is: 'count', name: 'functions', value: functions.length };
  yield* countsOf(theatre.counts);
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

function refuseUnsteered({ clock }: Pick<Scenario, 'clock'>, { counts }: Theatre): void {
  if (clock === 'steered' && counts.steered_functions === 0)
    throw new CoverageError(
      'no function reads clock_timestamp(), so the steered clock moved nothing',
    );
}

/** Observations that belong to checks which were not selected are left aside. */
function mine({ specs }: Task, seen: readonly Observation[]): Observation[] {
  return seen.filter(({ check }) => check === undefined || specs.some(({ id }) => id === check));
}

function* countsOf(counts: Readonly<Record<string, number>>): Generator<Observation> {
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
function missingPart(thrown: unknown): Observation {
  const failure = setupFailure(thrown);
  const missing = failure?.code && missingContractObject(failure.code, failure.message);
  if (failure === undefined || !missing) throw thrown;
  return { is: 'assertion', name: missing, ok: false, seen: failure.message, at: failure.at };
}
