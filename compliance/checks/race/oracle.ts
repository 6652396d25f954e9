/**
 * The general oracle: what an interleaving came to must be what *some* serial order comes to. The
 * serial orders are run on the same database, so the oracle knows nothing of the queue's rules, with
 * one exception: a call that skips locked rows may have passed over rows that an overlapping call
 * held, so the serial order may be run with those rows held by a bystander.
 */
import { findRow, knownIds, nameIds, type KnownIds, type NamedRow } from './naming.ts';
import { differences, normalise, type Difference, type Outcome } from './normalise.ts';
import { inStepOrder, type Order } from './order.ts';
import type { Memory } from './performer.ts';
import type { Scenario } from './scenario.ts';
import { operationsOf, serialOrders, spansOf, subsets, type Operation } from './serial.ts';
import type { Theatre } from './theatre.ts';

export type SerialVerdict =
  | { equal: true; passedOver: boolean }
  /** `nearest`: the serial order that comes closest, and where it still differs. */
  | { equal: false; tried: number; nearest: { order: string; differences: readonly Difference[] } };

export type Oracle = {
  judge(order: Order): Promise<SerialVerdict>;
  /** How many different serial runs there were. */
  runs(): number;
};

type Held = ReadonlyMap<string, readonly NamedRow[]>;

/** How long a serial run waits for a row that the bystander holds before it counts as no match. */
const HELD_WAIT_MS = 150;

/** Serial runs are remembered: most interleavings of a scenario are equal to the same few. */
export function serialOracle(theatre: Theatre, scenario: Scenario): Oracle {
  const operations = operationsOf(scenario.sessions);
  const known = new Map<string, Outcome>();
  const outcomeOf = async (order: readonly number[], held: Held): Promise<Outcome> => {
    const key = JSON.stringify([order, [...held]]);
    const outcome =
      known.get(key) ?? (await runSerially(theatre, scenario, pickAll(operations, order), held));
    known.set(key, outcome);
    return outcome;
  };
  return {
    async judge(order) {
      const seen = JSON.stringify(order.outcome);
      const failed: { order: string; outcome: Outcome }[] = [];
      for (const serial of serialOrders(spansOf(operations, order))) {
        for (const held of heldChoices(order.held)) {
          const outcome = await outcomeOf(serial, held);
          if (JSON.stringify(outcome) === seen) return { equal: true, passedOver: held.size > 0 };
          failed.push({ order: describe(pickAll(operations, serial), held), outcome });
        }
      }
      return { equal: false, tried: failed.length, nearest: nearest(order.outcome, failed) };
    },
    runs: () => known.size,
  };
}

function pickAll(operations: readonly Operation[], order: readonly number[]): Operation[] {
  return order.flatMap((index) => operations[index] ?? []);
}

/** Every choice of rows that each skipping step may have passed over; passing over none comes first. */
function heldChoices(held: Held): Held[] {
  const steps = [...held].filter(([, rows]) => rows.length > 0);
  return steps.reduce<Held[]>(
    (choices, [step, rows]) =>
      choices.flatMap((choice) =>
        subsets(rows).map((some) =>
          some.length === 0 ? choice : new Map([...choice, [step, some]]),
        ),
      ),
    [new Map()],
  );
}

async function runSerially(
  theatre: Theatre,
  scenario: Scenario,
  operations: readonly Operation[],
  held: Held,
): Promise<Outcome> {
  const base = await theatre.prepare(scenario);
  const memory: Memory = { variables: base, answers: new Map() };
  const cast = theatre.cast(scenario, memory, 'whole');
  for (const { session, steps } of operations) {
    const performer = cast.find(({ name }) => name === session);
    for (const step of steps) {
      const rows = held.get(step) ?? [];
      await whileHeld(
        theatre,
        session,
        rows,
        knownIds(memory.variables, memory.answers),
        async () => {
          // A step may take several moves; none of them is interrupted here.
          while (performer?.upcoming()?.step === step) await performer.move();
        },
      );
    }
  }
  // Now that no transaction is open: inside a failed one the setting could not be taken back.
  if (held.size > 0) {
    for (const session of theatre.sessions.values()) {
      await session.client.query('set lock_timeout = 0');
    }
  }
  const state = await theatre.stage.state();
  return normalise(inStepOrder(scenario, memory.answers), state, nameIds(base));
}

/** Runs a step while a bystander holds rows. A row that the session holds itself is left to it. */
async function whileHeld(
  { locker, sessions }: Theatre,
  name: string,
  rows: readonly NamedRow[],
  known: KnownIds,
  work: () => Promise<void>,
): Promise<void> {
  if (rows.length === 0) return work();
  const session = sessions.get(name);
  await locker.client.query('begin');
  try {
    for (const row of rows) {
      const column = row.table === 'public.job_queue' ? 'job_id' : 'lease_name';
      await locker.client.query(
        `select 1 from ${row.table} where ${column}::text = $1 for update skip locked`,
        [findRow(row, known)],
      );
    }
    // Inside a transaction that has failed this is refused, and then no step will wait either.
    await session?.client.query(`set lock_timeout = ${HELD_WAIT_MS}`).catch(() => undefined);
    await work();
  } finally {
    await locker.client.query('rollback');
  }
}

function describe(operations: readonly Operation[], held: Held): string {
  const parts = operations.map(({ session, steps }) => {
    const over = steps
      .flatMap((step) => held.get(step) ?? [])
      .map(({ keys }) => keys[0] ?? 'a row');
    const name = steps.length === 1 ? (steps[0] ?? session) : session;
    return over.length === 0 ? name : `${name} (passing over ${over.join(', ')})`;
  });
  return parts.join(', then ');
}

function nearest(
  seen: Outcome,
  tried: readonly { order: string; outcome: Outcome }[],
): { order: string; differences: readonly Difference[] } {
  const compared = tried.map(({ order, outcome }) => ({
    order,
    differences: differences(seen, outcome),
  }));
  compared.sort((a, b) => a.differences.length - b.differences.length);
  return compared[0] ?? { order: '', differences: [] };
}
