import { expect, test } from 'vitest';
import { follow, frontier, preemptionsIn, type Bounds, type Fork } from './frontier.ts';
import { seeded } from '../random.ts';

type World = Readonly<Record<string, number>>;

/** Sessions that only count down: who has steps left can move. `blocked` says who cannot, and when. */
function runOrder(
  world: World,
  prefix: readonly string[],
  blocked: (name: string, done: readonly string[]) => boolean = () => false,
): { order: string[]; forks: Fork[] } {
  const left = { ...world };
  const order: string[] = [];
  const forks: Fork[] = [];
  const { choose } = follow(prefix);
  for (;;) {
    const enabled = Object.keys(left).filter((n) => (left[n] ?? 0) > 0 && !blocked(n, order));
    if (enabled.length === 0) return { order, forks };
    const last = order.at(-1);
    const current = last !== undefined && enabled.includes(last) ? last : undefined;
    const chosen = choose(enabled, current);
    forks.push({ enabled, chosen, current });
    left[chosen] = (left[chosen] ?? 0) - 1;
    order.push(chosen);
  }
}

function allOrders(
  world: World,
  bounds: Bounds,
  seed = 1,
): { orders: string[]; exhausted: boolean } {
  const open = frontier(bounds, seeded(seed));
  const orders: string[] = [];
  for (let prefix = open.next(); prefix !== undefined; prefix = open.next()) {
    const { order, forks } = runOrder(world, prefix);
    orders.push(order.join(''));
    open.learn(prefix, forks);
  }
  return { orders, exhausted: open.exhausted() };
}

const counts: [World, number][] = [
  [{ a: 1 }, 1],
  [{ a: 1, b: 1 }, 2],
  [{ a: 2, b: 2 }, 6],
  [{ a: 3, b: 3 }, 20],
  [{ a: 2, b: 2, c: 2 }, 90],
  [{ a: 4, b: 1, c: 1 }, 30],
];

test.each(counts)('every order of %j comes up exactly once (%i)', (world, count) => {
  const { orders, exhausted } = allOrders(world, { cap: 1000 });
  expect(new Set(orders).size).toBe(orders.length);
  expect(orders).toHaveLength(count);
  expect(exhausted).toBe(true);
});

test('orders with fewer preemptions come first', () => {
  const open = frontier({ cap: 1000 }, seeded(1));
  const costs: number[] = [];
  for (let prefix = open.next(); prefix !== undefined; prefix = open.next()) {
    const { forks } = runOrder({ a: 3, b: 3 }, prefix);
    costs.push(preemptionsIn(forks));
    open.learn(prefix, forks);
  }
  const firstHalf = costs.slice(0, costs.length / 2);
  expect(firstHalf).toEqual([...firstHalf].sort((x, y) => x - y));
  expect(costs[0]).toBe(0);
});

test('a bound on preemptions leaves out the orders beyond it and nothing else', () => {
  const { orders } = allOrders({ a: 2, b: 2 }, { cap: 1000, preemptions: 0 });
  expect(orders.sort()).toEqual(['aabb', 'bbaa']);
  expect(allOrders({ a: 2, b: 2 }, { cap: 1000, preemptions: 1 }).orders.sort()).toEqual(
    ['aabb', 'abba', 'baab', 'bbaa'].sort(),
  );
});

test('above the cap, the seed draws the sample: the same seed the same one, another seed another', () => {
  const world = { a: 5, b: 5 };
  const one = allOrders(world, { cap: 40 }, 1);
  expect(one.orders).toHaveLength(40);
  expect(one.exhausted).toBe(false);
  expect(new Set(one.orders).size).toBe(40);
  expect(allOrders(world, { cap: 40 }, 1).orders).toEqual(one.orders);
  expect(allOrders(world, { cap: 40 }, 2).orders).not.toEqual(one.orders);
});

test('a session that is blocked until another has moved makes fewer orders, each still once', () => {
  const waits = (name: string, done: readonly string[]): boolean =>
    name === 'b' && !done.includes('a');
  const open = frontier({ cap: 1000 }, seeded(1));
  const orders: string[] = [];
  for (let prefix = open.next(); prefix !== undefined; prefix = open.next()) {
    const { order, forks } = runOrder({ a: 2, b: 2 }, prefix, waits);
    orders.push(order.join(''));
    open.learn(prefix, forks);
  }
  expect(orders.sort()).toEqual(['aabb', 'abab', 'abba']);
});

test('a prefix that names a session that cannot move says so', () => {
  const { choose, strayed } = follow(['b', 'a']);
  expect(choose(['a'], undefined)).toBe('a');
  expect(strayed()).toBe('b');
});
