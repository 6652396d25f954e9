/** Runs one order from the common state to its end, and says what it came to. */
import type { Answer } from './answer.ts';
import { follow, type Prefix } from './frontier.ts';
import { knownIds, nameIds, nameRow, type KnownIds, type NamedRow } from './naming.ts';
import { normalise, type Outcome } from './normalise.ts';
import type { Memory } from './performer.ts';
import { play, type Played } from './play.ts';
import { stepNames, type Scenario } from './scenario.ts';
import type { HeldRow, Look } from './stage.ts';
import type { Theatre } from './theatre.ts';
import type { Variables } from './variables.ts';

export type Order = Played & {
  /** What set-up and steps captured. */
  variables: Variables;
  answers: ReadonlyMap<string, Answer>;
  outcome: Outcome;
  /** For each step that may pass over locked rows: those that others held while it ran. */
  held: ReadonlyMap<string, readonly NamedRow[]>;
  /** The session that a prefix named although it could not move. */
  strayed: string | undefined;
};

/** @throws what `prepare` throws, and when a step neither ends nor waits. */
export async function runOrder(
  theatre: Theatre,
  scenario: Scenario,
  prefix: Prefix,
  signal: AbortSignal,
): Promise<Order> {
  const base = await theatre.prepare(scenario);
  const memory: Memory = { variables: base, answers: new Map() };
  const looks = new Map<string, Look[]>();
  const { choose, strayed } = follow(prefix);
  const played = await play(theatre.cast(scenario, memory), {
    watch: theatre.watch,
    choose,
    limitMs: scenario.limitMs,
    signal,
    async before({ step, skips }) {
      if (skips) looks.set(step, [...(looks.get(step) ?? []), await theatre.stage.look()]);
    },
  });
  if (played.stuck.length > 0) await endTransactions(theatre);
  const state = await theatre.stage.state();
  const { variables, answers } = memory;
  const known = knownIds(variables, answers);
  const { jobs } = looks.size === 0 ? { jobs: [] } : await theatre.stage.look();
  return {
    ...played,
    variables,
    answers,
    outcome: normalise(inStepOrder(scenario, answers), state, nameIds(base)),
    held: new Map([...looks].map(([step, its]) => [step, named(passedBy(its, jobs), known)])),
    strayed: strayed(),
  };
}

/** Answers in the order of the file, whatever the order of the run. */
export function inStepOrder(
  { sessions }: Scenario,
  answers: ReadonlyMap<string, Answer>,
): [string, Answer][] {
  return sessions.flatMap(stepNames).flatMap((step) => {
    const answer = answers.get(step);
    return answer === undefined ? [] : [[step, answer] as [string, Answer]];
  });
}

/** What was held at any of these moments: locked, or made by somebody who had not yet committed. */
function passedBy(looks: readonly Look[], jobs: readonly string[]): HeldRow[] {
  const unseen = jobs.filter((id) => looks.some((look) => !look.jobs.includes(id)));
  const rows = [
    ...looks.flatMap(({ held }) => held),
    ...unseen.map((key) => ({ table: 'public.job_queue', key })),
  ];
  return [...new Map(rows.map((row) => [`${row.table} ${row.key}`, row])).values()];
}

function named(rows: readonly HeldRow[], known: KnownIds): NamedRow[] {
  return rows.map((row) => nameRow(row, known)).filter(({ keys }) => keys.length > 0);
}

/** After an order that got stuck, transactions may still be open. */
async function endTransactions({ sessions }: Theatre): Promise<void> {
  for (const session of sessions.values()) await session.client.query('rollback');
}
