/** Gathers what many orders said about the same few assertions, and keeps the clearest failure. Pure. */
import type { Observation, Where } from '../../types.ts';
import type { Breach } from './assertions.ts';
import { preemptionsIn } from './frontier.ts';
import type { Order } from './order.ts';
import { nameShown, replayOf, traceOf } from './trace.ts';

/** One assertion over all the orders that it concerns. */
export type Tally = {
  /**
   * Counts one order; with a breach, keeps it when it is easier to read than the one kept. `group`
   * names the scenario where one tally serves several.
   */
  add(order: Order, breach: Breach | undefined, group?: string): void;
  concerned(): number;
  observation(): Observation;
};

export type Subject = { name: string; check?: string | undefined; at: Where };
type Worst = { cost: number; breach: Breach; trace: readonly string[] };
export type Show = (order: Order) => readonly string[];

/** `show` draws an order; by default one line a move. */
export function tally(subject: Subject, show: Show = traceOf): Tally {
  let concerned = 0;
  let broken = 0;
  const groups = new Set<string>();
  let worst: Worst | undefined;
  return {
    add(order, breach, group = '') {
      concerned += 1;
      if (breach === undefined) return;
      broken += 1;
      if (group !== '') groups.add(group);
      const cost = preemptionsIn(order.forks) * 1000 + order.moves.length;
      if (worst !== undefined && worst.cost <= cost) return;
      const shown = nameShown(order.variables);
      worst = {
        cost,
        breach: {
          expected: shown(breach.expected),
          seen: `${group === '' ? '' : `${group}: `}${shown(breach.seen)}`,
        },
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
            seen: `${worst.breach.seen} (in ${broken} of ${concerned} orders${others(groups)})`,
            trace: worst.trace,
          }),
    }),
  };
}

/** How many scenarios broke it, where there is more than one. */
function others(groups: ReadonlySet<string>): string {
  if (groups.size < 2) return '';
  const some = [...groups].slice(0, 5).join('; ');
  return ` of ${groups.size} scenarios: ${some}${groups.size > 5 ? '; …' : ''}`;
}
