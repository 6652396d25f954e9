/** Gathers what many orders said about the same few assertions, and keeps the clearest failure. Pure. */
import type { Observation, Where } from '../../types.ts';
import type { Breach } from './assertions.ts';
import { preemptionsIn } from './frontier.ts';
import type { Order } from './order.ts';
import { nameShown, replayOf, traceOf } from './trace.ts';

/** One assertion over all the orders that it concerns. */
export type Tally = {
  /** Counts one order; with a breach, keeps it when it is easier to read than the one kept. */
  add(order: Order, breach: Breach | undefined): void;
  concerned(): number;
  observation(): Observation;
};

export type Subject = { name: string; check?: string | undefined; at: Where };
type Worst = { cost: number; breach: Breach; trace: readonly string[] };
type Show = (order: Order) => readonly string[];

/** `show` draws an order; by default one line a move. */
export function tally(subject: Subject, show: Show = traceOf): Tally {
  let concerned = 0;
  let broken = 0;
  let worst: Worst | undefined;
  return {
    add(order, breach) {
      concerned += 1;
      if (breach === undefined) return;
      broken += 1;
      const cost = preemptionsIn(order.forks) * 1000 + order.moves.length;
      if (worst !== undefined && worst.cost <= cost) return;
      const shown = nameShown(order.variables);
      worst = {
        cost,
        breach: { expected: shown(breach.expected), seen: shown(breach.seen) },
        trace: [...show(order), `to run this order alone: orders: ["${replayOf(order)}"]`],
      };
    },
    concerned: () => concerned,
    observation: () => ({
      ...(subject.check === undefined ? {} : { check: subject.check }),
      is: 'assertion',
      name: subject.name,
      ok: worst === undefined,
      at: subject.at,
      ...(worst === undefined
        ? {}
        : {
            expected: worst.breach.expected,
            seen: `${worst.breach.seen} (in ${broken} of ${concerned} orders)`,
            trace: worst.trace,
          }),
    }),
  };
}
