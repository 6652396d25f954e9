/**
 * Plays one order: lets one performer move at a time, notices who waits for whom, and goes on with
 * the others, as PostgreSQL's isolation tester does. What a move is, a whole step or the stretch to
 * the next stop inside a function, the performers know.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
import type { Answer } from './answer.ts';
import type { Fork } from './frontier.ts';
import { inCycle, type Watcher } from './watcher.ts';
import { known } from './known.ts';

/** A move before it is made. */
export type Upcoming = {
  /** The step that it belongs to. */
  step: string;
  /** What to call it in a trace. */
  label: string;
  /** Whether it may pass over rows that others hold. */
  skips: boolean;
  /** True when nobody who has something left to do could notice it: it is made at once, without a choice. */
  alone: boolean;
};

/** One session's part in an order. */
export type Performer = {
  readonly name: string;
  /** What it does next; undefined when it has nothing left. Asked only while it is not moving. */
  upcoming(): Upcoming | undefined;
  /** Does it. Resolves once it is over. */
  move(): Promise<Landing>;
};

/** What a move came to: an answer, unless it ended inside a step; and what it did on the way. */
export type Landing = { answer?: Answer; passed?: readonly string[] };

/** One move as it went. Moves are numbered from 0 in the order in which they began. */
export type Move = Pick<Upcoming, 'step' | 'label'> & {
  who: string;
  answer: Answer | undefined;
  /** The statements inside a function that it went through, where a move is less than a step. */
  passed: readonly string[];
  /** Whom it had to wait for; empty when it never waited. */
  waitedFor: readonly string[];
  /** The move during which it ended: its own number when it did not wait; undefined when cancelled. */
  endedDuring: number | undefined;
};

export type Played = {
  moves: readonly Move[];
  forks: readonly Fork[];
  /** Sessions that waited for something that nobody was left to release. */
  stuck: readonly string[];
  /** Sessions that were seen to wait for each other, even where a function caught the deadlock. */
  deadlocked: readonly string[];
};

export type Stage = {
  watch: Watcher;
  choose: (enabled: readonly string[], current: string | undefined) => string;
  /** Called before each move, while nobody runs. */
  before?(upcoming: Upcoming): Promise<void>;
  /** How long a move may run without either ending or waiting. */
  limitMs: number;
  signal: AbortSignal;
};

type Flight = { move: Move; over: Promise<void>; landed: boolean; failure?: Error };

/** @throws Error when a move neither ended nor waited within the limit, or failed as no statement can. */
export async function play(cast: readonly Performer[], stage: Stage): Promise<Played> {
  const moves: Move[] = [];
  const forks: Fork[] = [];
  const flights = new Map<string, Flight>();
  const deadlocked = new Set<string>();
  let current: string | undefined;
  try {
    for (;;) {
      stage.signal.throwIfAborted();
      const ready = cast.filter((one) => !flights.has(one.name) && one.upcoming() !== undefined);
      if (ready.length === 0) break;
      const performer =
        ready.find((one) => one.upcoming()?.alone) ?? chooseOne(ready, current, stage, forks);
      const upcoming = known(performer.upcoming(), 'its next move');
      if (!upcoming.alone) current = performer.name;
      await stage.before?.(upcoming);
      flights.set(performer.name, takeOff(performer, upcoming, moves));
      await settle(flights, moves, stage, deadlocked);
    }
    const stuck = [...flights.keys()];
    const names = cast.map(({ name }) => name);
    return { moves, forks, stuck, deadlocked: names.filter((name) => deadlocked.has(name)) };
  } finally {
    await bringDown(flights, stage.watch);
  }
}

/** A fork: who of those that can move does so. */
function chooseOne(
  ready: readonly Performer[],
  last: string | undefined,
  { choose }: Stage,
  forks: Fork[],
): Performer {
  const enabled = ready.map(({ name }) => name);
  const current = last !== undefined && enabled.includes(last) ? last : undefined;
  const chosen = choose(enabled, current);
  forks.push({ enabled, chosen, current });
  return known(
    ready.find(({ name }) => name === chosen),
    `${chosen}, which was chosen,`,
  );
}

function takeOff(performer: Performer, { step, label }: Upcoming, moves: Move[]): Flight {
  const move: Move = {
    step,
    label,
    who: performer.name,
    answer: undefined,
    passed: [],
    waitedFor: [],
    endedDuring: undefined,
  };
  moves.push(move);
  const flight: Flight = { move, over: Promise.resolve(), landed: false };
  flight.over = performer.move().then(
    ({ answer, passed = [] }) => {
      move.answer = answer;
      move.passed = passed;
      move.endedDuring = moves.length - 1;
      flight.landed = true;
    },
    (failure: unknown) => {
      flight.landed = true;
      flight.failure = failure instanceof Error ? failure : new Error(messageOf(failure));
    },
  );
  return flight;
}

/** Waits until every flight has landed or waits for another session that is not waiting for it. */
async function settle(
  flights: Map<string, Flight>,
  moves: Move[],
  stage: Stage,
  deadlocked: Set<string>,
): Promise<void> {
  const deadline = performance.now() + stage.limitMs;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs + 1, 10)) {
    await aLanding(flights, pauseMs);
    stage.signal.throwIfAborted();
    clear(flights);
    if (flights.size === 0) return;
    const asked = [...flights.keys()];
    const waiting = await stage.watch.waiting(asked);
    clear(flights);
    // Whoever ended meanwhile may have let others go: what the server said is out of date.
    if (flights.size < asked.length) continue;
    for (const [name, { move }] of flights) note(move, waiting.get(name) ?? []);
    const cycle = [...waiting.keys()].filter((name) => inCycle(name, waiting));
    for (const name of cycle) deadlocked.add(name);
    if (cycle.length === 0 && [...flights.keys()].every((name) => waiting.has(name))) return;
    if (performance.now() > deadline) {
      throw new Error(
        `${moves.at(-1)?.label ?? ''} set off ${[...flights.keys()].join(', ')}, which after ` +
          `${stage.limitMs / 1000} s had neither ended nor come to wait for another session`,
      );
    }
  }
}

function note(move: Move, holders: readonly string[]): void {
  move.waitedFor = [...new Set([...move.waitedFor, ...holders])];
}

function clear(flights: Map<string, Flight>): void {
  for (const [name, { landed, failure }] of flights) {
    if (!landed) continue;
    flights.delete(name);
    if (failure !== undefined) throw failure;
  }
}

async function aLanding(flights: Map<string, Flight>, pauseMs: number): Promise<void> {
  const pause = new AbortController();
  await Promise.race([
    ...[...flights.values()].map(({ over }) => over),
    delay(pauseMs, undefined, { signal: pause.signal }).catch(() => undefined),
  ]);
  pause.abort();
}

/** Nothing may still run when an order is over, however it ended. */
async function bringDown(flights: Map<string, Flight>, watch: Watcher): Promise<void> {
  const flying = [...flights].filter(([, { landed }]) => !landed);
  if (flying.length === 0) return;
  await watch.cancel(flying.map(([name]) => name));
  await Promise.all(flying.map(([, { over }]) => over));
}
