/**
 * The check kind `explore`: schedules of statements *inside* functions (clauses.md). The functions of
 * a throwaway database are rewritten so that they can be held up before each statement that touches
 * what another operation touches too; then every schedule is run, those with the fewest preemptions
 * first. Files and findings are those of the kind race; a move is the stretch to the next stop.
 */
import { CoverageError } from '../../errors.ts';
import type { Sandbox } from '../../types.ts';
import { known } from '../race/known.ts';
import { checkBy } from '../race/perform.ts';
import type { Scenario, SessionPlan } from '../race/scenario.ts';
import { openTheatre, type Opening, type Theatre } from '../race/theatre.ts';
import { parametrised } from '../race/variables.ts';
import { makeGate } from './gates.ts';
import { NOTHING, type Footprint } from './footprint.ts';
import type { Stop } from './instrument.ts';
import { conflict, functionsReached, reach, reachOfStop, stopsThatMatter } from './interest.ts';
import { stopByStop, type Actor, type SteppedPerformer } from './performer.ts';
import { plantStops, type Program } from './program.ts';
import { sideBySide } from './sidebyside.ts';

export const run = checkBy({ open: openExploration, show: sideBySide });

/** A theatre whose functions stop inside. Its casts throw CoverageError for one that cannot. */
export async function openExploration(sandbox: Sandbox, opening: Opening): Promise<Theatre> {
  const theatre = await openTheatre(sandbox, opening);
  const program = await plantStops(theatre.control);
  const keeper = await sandbox.session('explore keeper');
  const actors = new Map<string, Actor>();
  for (const [name, session] of theatre.sessions) {
    actors.set(name, { session, gate: await makeGate(session, keeper, actors.size + 1) });
  }
  const touchedBy = new Map(
    [...program.stops.values()].map((stop) => [stop.id, reachOfStop(stop, program.facts)]),
  );
  const scores = new WeakMap<Scenario, Score>();
  const scoreFor = (scenario: Scenario): Score => {
    const score = scores.get(scenario) ?? scoreOf(scenario, program);
    scores.set(scenario, score);
    return score;
  };
  return {
    ...theatre,
    counts: {
      ...theatre.counts,
      stops: program.stops.size,
      functions_with_stops: new Set([...program.stops.values()].map(({ name }) => name)).size,
    },
    cast(scenario, memory, whole) {
      const { reached, armed } = scoreFor(scenario);
      const { stops, facts } = program;
      const performers: SteppedPerformer[] = [];
      for (const plan of scenario.sessions) {
        const matters = ({ id }: Stop): boolean =>
          // Only those who have something left to do can still go first.
          performers.some(
            (other) =>
              other.name !== plan.name &&
              !other.finished() &&
              conflict(
                touchedBy.get(id) ?? NOTHING,
                reached.get(other.name) ?? NOTHING,
                facts.unique,
              ),
          );
        const how = { stops, armed: whole ? NONE : (armed.get(plan.name) ?? NONE), matters };
        const actor = known(actors.get(plan.name), plan.name);
        performers.push(stopByStop(plan, actor, memory, how));
      }
      return performers;
    },
    async [Symbol.asyncDispose]() {
      // With the keeper its locks go, so whoever still stands at a stop goes on and ends.
      await keeper[Symbol.asyncDispose]();
      await theatre[Symbol.asyncDispose]();
    },
  };
}

const NONE: ReadonlySet<number> = new Set();

/** What is known of a scenario before it is played, by session. */
type Score = {
  reached: ReadonlyMap<string, Footprint>;
  armed: ReadonlyMap<string, ReadonlySet<number>>;
};

/** @throws CoverageError when a function that is reached cannot be stopped in */
function scoreOf({ sessions }: Scenario, { stops, facts, problems }: Program): Score {
  const operations = new Map(sessions.map((plan) => [plan.name, sqlOf(plan)]));
  const functions = new Set(
    [...operations.values()].flatMap((sql) => [...functionsReached(sql, facts)]),
  );
  const blind = [...problems].filter(([name]) => functions.has(name));
  if (blind.length > 0) {
    const told = blind.map(([name, why]) => `${name} (${why.join('; ')})`);
    throw new CoverageError(`cannot stop before every statement of ${told.join(', ')}`);
  }
  const reached = new Map([...operations].map(([name, sql]) => [name, reach(sql, facts)]));
  return { reached, armed: stopsThatMatter(reached, [...stops.values()], facts) };
}

function sqlOf({ steps }: SessionPlan): string {
  return steps.map(({ sql }) => parametrised(sql)).join(';\n');
}
