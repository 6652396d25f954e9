/**
 * Which serial orders an interleaving may be equal to. Pure: operations, when each began and ended,
 * and which must come before which.
 */
import type { Played } from './play.ts';
import { stepNames, type SessionPlan } from './scenario.ts';
import { known } from './known.ts';

/** What happens in one transaction: a serial order runs it without a break. */
export type Operation = { session: string; steps: readonly string[] };

/** A transaction is one operation; without one, every step is. */
export function operationsOf(sessions: readonly SessionPlan[]): Operation[] {
  return sessions.flatMap((session) =>
    session.transaction === 'none'
      ? session.steps.map(({ name }) => ({ session: session.name, steps: [name] }))
      : [{ session: session.name, steps: stepNames(session) }],
  );
}

export type Span = { from: number; to: number };

/** The moves during which each operation was going on; an operation that never began has no span. */
export function spansOf(operations: readonly Operation[], { moves }: Played): (Span | undefined)[] {
  return operations.map(({ steps }) => {
    const its = [...moves.entries()].filter(([, move]) => steps.includes(move.step));
    const [first] = its;
    if (first === undefined) return undefined;
    return { from: first[0], to: Math.max(...its.map(([, m]) => m.endedDuring ?? moves.length)) };
  });
}

/**
 * Every order of the operations in which one that had ended before another began comes first, as in
 * the interleaving itself: a database has one real time.
 */
export function* serialOrders(spans: readonly (Span | undefined)[]): Generator<readonly number[]> {
  const ran = spans.flatMap((span, index) => (span === undefined ? [] : [index]));
  yield* extend([], ran, (a, b) => known(spans[a], 'a span').to < known(spans[b], 'a span').from);
}

function* extend(
  done: readonly number[],
  left: readonly number[],
  precedes: (a: number, b: number) => boolean,
): Generator<readonly number[]> {
  if (left.length === 0) yield done;
  for (const next of left) {
    if (left.some((other) => other !== next && precedes(other, next))) continue;
    yield* extend(
      [...done, next],
      left.filter((other) => other !== next),
      precedes,
    );
  }
}

/** Every subset, the empty one first; of more than three rows only none and all. */
export function subsets<T>(items: readonly T[]): T[][] {
  if (items.length > 3) return [[], [...items]];
  return items.reduce<T[][]>((sets, item) => [...sets, ...sets.map((set) => [...set, item])], [[]]);
}
