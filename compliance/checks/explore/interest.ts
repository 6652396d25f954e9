/**
 * Which stops matter. Holding an operation up before a statement shows something only when another
 * operation touches the same thing: between statements that cannot notice each other there is nothing
 * to find, and the number of schedules grows with every stop. Pure.
 */
import { footprintOf, NOTHING, union, type Footprint } from './footprint.ts';
import { looksAtClock, type Stop } from './instrument.ts';

/** A function as far as this matters. */
export type FunctionFacts = {
  /** `schema.name` */
  name: string;
  /** Everything that its own statements touch. */
  footprint: Footprint;
  /** PL/pgSQL stops inside itself; anything else is part of the statement that calls it. */
  stops: boolean;
};

export type Facts = {
  functions: ReadonlyMap<string, FunctionFacts>;
  /** View → the tables behind it. */
  views: ReadonlyMap<string, readonly string[]>;
  /** Table → functions of its triggers. */
  triggers: ReadonlyMap<string, readonly string[]>;
  /** Tables in which two inserts can get in each other's way. */
  unique: ReadonlySet<string>;
};

/** Moves the clock, which others read. */
const ADVANCE = 'dieu45_steer.advance';
const CLOCK = 'the clock';

/** Everything that a text of SQL touches, through all that it calls, views and triggers included. */
export function reach(sql: string, facts: Facts): Footprint {
  return closure(footprintOf(sql), facts, new Set(), () => true);
}

/** Every function that a text of SQL runs, through all that it calls, triggers included. */
export function functionsReached(sql: string, facts: Facts): ReadonlySet<string> {
  const seen = new Set<string>();
  closure(footprintOf(sql), facts, seen, () => true);
  return seen;
}

/** What one stop's statement touches by itself: not what stops again further in. */
export function reachOfStop({ footprint }: Stop, facts: Facts): Footprint {
  return closure(footprint, facts, new Set(), (called) => !called.stops);
}

function closure(
  start: Footprint,
  facts: Facts,
  seen: Set<string>,
  enters: (called: FunctionFacts) => boolean,
): Footprint {
  const called = [
    ...[...start.calls].map(
      (name) => facts.functions.get(name) ?? facts.functions.get(`public.${name}`),
    ),
    ...[...start.writes, ...start.inserts]
      .flatMap((table) => tablesOf(table, facts).flatMap((one) => facts.triggers.get(one) ?? []))
      .map((name) => facts.functions.get(name)),
  ];
  const inside = called.flatMap((one) => {
    if (one === undefined || seen.has(one.name) || !enters(one)) return [];
    seen.add(one.name);
    return [closure(one.footprint, facts, seen, enters)];
  });
  return union(withTables(start, facts), ...inside);
}

/** Views become the tables behind them; a look at the clock and a move of it become a table too. */
function withTables(footprint: Footprint, facts: Facts): Footprint {
  const all = (names: ReadonlySet<string>): Set<string> =>
    new Set([...names].flatMap((name) => tablesOf(name, facts)));
  const reads = all(footprint.reads);
  const writes = all(footprint.writes);
  // What only stores the time does not depend on it.
  const stores = footprint.inserts.size > 0 && footprint.writes.size === 0;
  if (looksAtClock(footprint) && !stores) reads.add(CLOCK);
  if (footprint.calls.has(ADVANCE)) writes.add(CLOCK);
  return { ...footprint, reads, writes, inserts: all(footprint.inserts) };
}

function tablesOf(name: string, { views }: Facts): readonly string[] {
  return views.get(name) ?? [name];
}

/** Whether the order of the two can make a difference to either. */
export function conflict(a: Footprint, b: Footprint, unique: ReadonlySet<string>): boolean {
  const meets = (some: ReadonlySet<string>, others: readonly ReadonlySet<string>[]): boolean =>
    [...some].some((name) => others.some((other) => other.has(name)));
  return (
    meets(a.writes, [b.reads, b.writes, b.inserts]) ||
    meets(a.reads, [b.writes, b.inserts]) ||
    meets(a.inserts, [b.reads, b.writes]) ||
    [...a.inserts].some((name) => b.inserts.has(name) && unique.has(name))
  );
}

/**
 * The stops that can matter to each operation, by its name.
 * @param reached what each operation touches
 */
export function stopsThatMatter(
  reached: ReadonlyMap<string, Footprint>,
  stops: readonly Stop[],
  facts: Facts,
): ReadonlyMap<string, ReadonlySet<number>> {
  return new Map(
    [...reached.keys()].map((name) => {
      const others = [...reached].filter(([other]) => other !== name).map(([, what]) => what);
      const against = union(NOTHING, ...others);
      const mine = stops.filter((stop) =>
        conflict(reachOfStop(stop, facts), against, facts.unique),
      );
      return [name, new Set(mine.map(({ id }) => id))];
    }),
  );
}
