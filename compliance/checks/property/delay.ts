/** The delay before a retry, as the contract states it (§8.2, D5–D7). Pure. */

export type Backoff = { strategy: Strategy; base: number; cap: number };
export const strategies = ['exponential', 'linear', 'constant'] as const;
export type Strategy = (typeof strategies)[number];

/** LEAST(cap, raw) in seconds, before jitter, for the n-th attempt; a cap of 0 means constant. */
export function delaySeconds({ strategy, base, cap }: Backoff, attempt: number): number {
  if (cap === 0) return base;
  const raw = { exponential: base * 2 ** (attempt - 1), linear: base * attempt, constant: base };
  return Math.min(cap, raw[strategy]);
}

/** A microsecond is what a timestamp can tell. */
const TICK_SECONDS = 1e-6;

/**
 * Whether a delay is within [0.8, 1.2] × LEAST(cap, raw). A row with no attempt is beyond what the
 * contract has a delay for; it may wait for as long as after its first.
 */
export function isWithin(backoff: Backoff, attempt: number, seconds: number): boolean {
  const due = delaySeconds(backoff, Math.max(attempt, 1));
  const least = attempt === 0 ? 0 : 0.8 * due;
  return seconds >= least - TICK_SECONDS && seconds <= 1.2 * due + TICK_SECONDS;
}
