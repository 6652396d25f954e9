/** Runs the orders of one scenario and gathers what they say. */
import type { Observation } from '../../types.ts';
import { check, checkInvariants, concerns, mishap, type Breach } from './assertions.ts';
import { frontier, type Prefix } from './frontier.ts';
import { serialOracle, type SerialVerdict } from './oracle.ts';
import { runOrder, type Order } from './order.ts';
import { seeded } from '../random.ts';
import type { Invariant, Scenario } from './scenario.ts';
import { tally, type Show, type Subject, type Tally } from './tally.ts';
import type { Theatre } from './theatre.ts';
import { showJson } from './trace.ts';

/** What is said of every order, whatever the scenario. */
export type Board = { mishaps: Tally; invariants: Tally; serial: Tally };

/** What the orders of one scenario came to. */
export type Rehearsal = Board & {
  /** One for each assertion of the scenario, in its order. */
  assertions: readonly Tally[];
  counts: Counts;
};

/** A board for one scenario, or for many that are judged together. */
export function newBoard(about: (name: string) => Subject, show?: Show): Board {
  return {
    mishaps: tally(about('no deadlock, no raw error, nobody waits for ever'), show),
    invariants: tally(about('the invariants hold after every order'), show),
    serial: tally(about('every order comes to what some serial order comes to'), show),
  };
}

export type Counts = {
  orders: number;
  /** Moves that had to wait for another session. */
  blocked_steps: number;
  /** Orders that are equal to a serial one only because a call passed over a held row. */
  passed_over: number;
  serial_runs: number;
  /** 1 when orders were left out: sampled, or bounded by the cap. */
  sampled: number;
};

export type Rehearsing = {
  seed: number;
  exhaustive: boolean;
  signal: AbortSignal;
  invariants: readonly Invariant[];
  /** How a failing order is drawn. */
  show?: Show;
  /** Where to gather what is said of every order; a board of the scenario's own where unset. */
  board?: Board;
  progress?(orders: number): void;
};

/** @throws what `runOrder` throws. */
export async function rehearse(
  theatre: Theatre,
  scenario: Scenario,
  how: Rehearsing,
): Promise<Rehearsal> {
  const { signal, invariants, show } = how;
  const of = (name: string): string => (scenario.case === '' ? name : `${scenario.case}: ${name}`);
  const group = how.board === undefined ? '' : scenario.case;
  const board = how.board ?? newBoard((name) => ({ name: of(name), at: scenario.at }), show);
  const assertions = scenario.assertions.map((one) => tally({ ...one, name: of(one.name) }, show));
  const oracle = serialOracle(theatre, scenario);
  const counts = { orders: 0, blocked_steps: 0, passed_over: 0, serial_runs: 0, sampled: 0 };

  const orders = ordersOf(scenario, how);
  for (let prefix = orders.next(); prefix !== undefined; prefix = orders.next()) {
    const order = await runOrder(theatre, scenario, prefix, signal);
    orders.learn(prefix, order.forks);
    counts.orders += 1;
    counts.blocked_steps += order.moves.filter(({ waitedFor }) => waitedFor.length > 0).length;
    how.progress?.(counts.orders);
    for (const [index, assertion] of scenario.assertions.entries()) {
      if (!concerns(assertion, order)) continue;
      assertions[index]?.add(order, await check(assertion, order, theatre));
    }
    board.invariants.add(order, await checkInvariants(invariants, theatre), group);
    const broken = mishap(scenario, order) ?? astray(scenario, order);
    board.mishaps.add(order, broken, group);
    // An order that broke off came to nothing that a serial order could equal.
    if (broken !== undefined) continue;
    const verdict = await oracle.judge(order);
    if (verdict.equal && verdict.passedOver) counts.passed_over += 1;
    board.serial.add(order, serialBreach(verdict), group);
  }
  counts.serial_runs = oracle.runs();
  counts.sampled = orders.exhausted() ? 0 : 1;
  return { ...board, assertions, counts };
}

type Orders = Pick<ReturnType<typeof frontier>, 'next' | 'learn' | 'exhausted'>;

/** The orders that the scenario names, or all that can be found. */
function ordersOf(scenario: Scenario, { seed, exhaustive }: Rehearsing): Orders {
  const { orders, preemptions } = scenario;
  if (orders === undefined) {
    const cap = exhaustive ? scenario.cap : (scenario.sample ?? scenario.cap);
    const bounds = preemptions === undefined ? { cap } : { cap, preemptions };
    return frontier(bounds, seeded(seed));
  }
  const left: Prefix[] = [...orders];
  return { next: () => left.shift(), learn: () => undefined, exhausted: () => true };
}

/** An order that was asked for by name and cannot be run is no proof of anything. */
function astray({ orders }: Scenario, { strayed }: Order): Breach | undefined {
  if (orders === undefined || strayed === undefined) return undefined;
  return {
    expected: `${strayed} can move where the order says so`,
    seen: 'it has ended, or it waits',
  };
}

function serialBreach(verdict: SerialVerdict): Breach | undefined {
  if (verdict.equal) return undefined;
  const { order, differences } = verdict.nearest;
  const shown = differences
    .slice(0, 3)
    .map(({ path, here, there }) => `${path} is ${showJson(here)}, there ${showJson(there)}`);
  const more = differences.length > 3 ? `, and ${differences.length - 3} more` : '';
  return {
    expected: `what a serial order comes to; the nearest of ${verdict.tried}: ${order}`,
    seen: `${shown.join('; ')}${more}`,
  };
}

/** The observations of one rehearsal, always as many: its assertions, then three. */
export function observations({ assertions, ...board }: Rehearsal): Observation[] {
  return [...assertions.map((one) => one.observation()), ...boardObservations(board)];
}

/** Always three. */
export function boardObservations({ mishaps, invariants, serial }: Board): Observation[] {
  return [mishaps, invariants, serial].map((one) => one.observation());
}
