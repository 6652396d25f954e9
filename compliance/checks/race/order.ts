/** Runs one order from the common state to its end, and says what it came to. */
import type { Answer } from './answer.ts';
import { follow, type Prefix } from './frontier.ts';
import { knownIds, nameIds, nameRow, type KnownIds, type NamedRow } from './naming.ts';
import { normalise, type Outcome } from './normalise.ts';
import type { Memory } from './performer.ts';
import { play, type Played } from './play.ts';
import { stepNames, type Scenario } from './scenario.ts';
import type { HeldRow } from './stage.ts';
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

/** Calls that pass over a locked row instead of waiting for it (contract §4). */
const SKIPS_LOCKED = /\bfn_job_(?:claim|claim_batch|lease_reaper|promote_due)\b/;

/** @throws what `prepare` throws, and when a step neither ends nor waits. */
export async function runOrder(
  theatre: Theatre,
  scenario: Scenario,
  prefix: Prefix,
  signal: AbortSignal,
): Promise<Order> {
  const base = await theatre.prepare(scenario);
  const memory: Memory = { variables: base, answers: new Map() };
  const skipping = stepsThatSkip(scenario);
  const held = new Map<string, HeldRow[]>();
  const unseen = new Map<string, string[]>();
  const { choose, strayed } = follow(prefix);
  const played = await play(theatre.cast(scenario, memory), {
    watch: theatre.watch,
    choose,
    limitMs: scenario.limitMs,
    signal,
    async before(step) {
      if (!skipping.has(step)) return;
      held.set(step, merge(held.get(step) ?? [], await theatre.stage.heldRows()));
      const ids = [...knownIds({}, memory.answers).values()];
      const seen = await theatre.stage.visibleJobs(ids);
      unseen.set(step, [...(unseen.get(step) ?? []), ...ids.filter((id) => !seen.includes(id))]);
    },
  });
  if (played.stuck.length > 0) await endTransactions(theatre);
  const state = await theatre.stage.state();
  const { variables, answers } = memory;
  const known = knownIds(variables, answers);
  const made = await theatre.stage.visibleJobs([...new Set([...unseen.values()].flat())]);
  const heldBy = (step: string): HeldRow[] => [
    ...(held.get(step) ?? []),
    // A job that was there, but not yet for others to see, was held by whoever had made it.
    ...(unseen.get(step) ?? [])
      .filter((id) => made.includes(id))
      .map((key) => ({ table: 'public.job_queue', key })),
  ];
  return {
    ...played,
    variables,
    answers,
    outcome: normalise(inStepOrder(scenario, answers), state, nameIds(base)),
    held: new Map([...held.keys()].map((step) => [step, named(merge([], heldBy(step)), known)])),
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

function stepsThatSkip({ sessions }: Scenario): Set<string> {
  const steps = sessions.flatMap((session) => session.steps);
  return new Set(steps.filter(({ sql }) => SKIPS_LOCKED.test(sql)).map(({ name }) => name));
}

function merge(some: readonly HeldRow[], more: readonly HeldRow[]): HeldRow[] {
  const byKey = new Map([...some, ...more].map((row) => [`${row.table} ${row.key}`, row]));
  return [...byKey.values()];
}

function named(rows: readonly HeldRow[], known: KnownIds): NamedRow[] {
  return rows.map((row) => nameRow(row, known)).filter(({ keys }) => keys.length > 0);
}

/** After an order that got stuck, transactions may still be open. */
async function endTransactions({ sessions }: Theatre): Promise<void> {
  for (const session of sessions.values()) await session.client.query('rollback');
}
