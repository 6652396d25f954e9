/**
 * A small seeded generator (mulberry32), so that a sample of orders can be drawn again.
 * Not for secrets.
 */
export type Random = () => number;

/** Numbers in [0, 1), the same sequence for the same seed. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A whole number in [0, below). */
export function pick(random: Random, below: number): number {
  return Math.floor(random() * below);
}
