/**
 * Which orders to run next. Pure: it knows names and choices, no database.
 *
 * An order is found by running it: at each fork the controller sees who can move (a blocked session
 * cannot) and chooses. Every finished order tells where it could have gone otherwise; those
 * prefixes are the frontier. Each order comes up exactly once.
 */
import { pick, type Random } from '../random.ts';
import { known } from './known.ts';

/** A moment at which the controller chose who moves next. */
export type Fork = {
  /** Who could move, in the order of the scenario. */
  enabled: readonly string[];
  chosen: string;
  /** Who moved last, if it could have gone on; choosing another is then a preemption. */
  current: string | undefined;
};

/** The first choices of an order; after them it goes on with as few switches as it can. */
export type Prefix = readonly string[];

export type Frontier = {
  /** The next order to run, or undefined when there is none left or the cap is reached. */
  next: () => Prefix | undefined;
  /** Tells what became of the order that `next` gave. */
  learn: (prefix: Prefix, forks: readonly Fork[]) => void;
  /** Whether every order within the bound was given out. */
  exhausted: () => boolean;
};

export type Bounds = {
  /** How many orders at most. */
  cap: number;
  /** How many preemptions an order may have; unbounded where unset. */
  preemptions?: number;
};

/**
 * Orders with the fewest preemptions come first, since most faults need few and a person reads
 * those most easily. When more are open than the cap lets through, the second half of what is left
 * is drawn by the seed from all that is open.
 */
export function frontier({ cap, preemptions = Infinity }: Bounds, random: Random): Frontier {
  const open: { prefix: Prefix; cost: number }[] = [{ prefix: [], cost: 0 }];
  let given = 0;
  return {
    next() {
      if (given >= cap || open.length === 0) return undefined;
      const left = cap - given;
      given += 1;
      const drawn =
        left <= cap / 2 && open.length > left ? pick(random, open.length) : cheapest(open);
      return open.splice(drawn, 1)[0]?.prefix;
    },
    learn(prefix, forks) {
      for (const other of turnings(prefix, forks)) {
        if (other.cost <= preemptions) open.push(other);
      }
    },
    exhausted: () => open.length === 0,
  };
}

function cheapest(open: readonly { cost: number }[]): number {
  let best = 0;
  for (const [index, { cost }] of open.entries()) {
    if (cost < (open[best]?.cost ?? Infinity)) best = index;
  }
  return best;
}

/** Every place behind the prefix where the order could have turned another way. */
function* turnings(
  prefix: Prefix,
  forks: readonly Fork[],
): Generator<{ prefix: Prefix; cost: number }> {
  const chosen = forks.map((fork) => fork.chosen);
  let cost = preemptionsIn(forks.slice(0, prefix.length));
  for (const [index, fork] of [...forks.entries()].slice(prefix.length)) {
    for (const other of fork.enabled) {
      if (other === fork.chosen) continue;
      const preempts = fork.current !== undefined && other !== fork.current ? 1 : 0;
      yield { prefix: [...chosen.slice(0, index), other], cost: cost + preempts };
    }
    cost += preempted(fork);
  }
}

/** How often a session was set aside although it could have gone on. */
export function preemptionsIn(forks: readonly Fork[]): number {
  return forks.reduce((sum, fork) => sum + preempted(fork), 0);
}

function preempted({ current, chosen }: Fork): number {
  return current !== undefined && chosen !== current ? 1 : 0;
}

/**
 * Chooses along a prefix, then with as few switches as it can: on with the session that moved last,
 * else with the first that can move. `strayed` when a session of the prefix could not move.
 */
export function follow(prefix: Prefix): {
  choose: (enabled: readonly string[], current: string | undefined) => string;
  strayed: () => string | undefined;
} {
  let step = 0;
  let stray: string | undefined;
  return {
    choose(enabled, current) {
      const wanted = prefix[step];
      step += 1;
      if (wanted !== undefined && enabled.includes(wanted)) return wanted;
      if (wanted !== undefined) stray ??= wanted;
      return current ?? known(enabled[0], 'a session that can move');
    },
    strayed: () => stray,
  };
}
