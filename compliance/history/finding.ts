/** What a judge says of a history (clauses.md, "Rules for judging a history"). */
import type { Digest } from './story.ts';

export const judgeNames = [
  'double-hold',
  'lost',
  'unexpected',
  'early-reap',
  'late-reap',
  'stale-write',
  'token-reuse',
  'over-run',
  'double-terminal',
  'order',
  'blocked-claim',
  'audit-gap',
  // Beyond the table: what else a load shows.
  'audit-replay',
  'silent-reap',
  'double-enqueue',
  'raw-error',
] as const;
export type JudgeName = (typeof judgeNames)[number];

/** One fault: a sentence, and the lines (from 0) of the smallest set of events that shows it. */
export type Fault = { says: string; job: string | null; lines: readonly number[] };

export type Finding = {
  judge: JudgeName;
  /** No fault was found. Says nothing where `undecidable` is not empty. */
  ok: boolean;
  /** At most `shownFaults` of them; `found` counts all. */
  faults: readonly Fault[];
  found: number;
  /** How much was seen, by name: what a check may name in its `must_observe`. */
  counts: Readonly<Record<string, number>>;
  /** Why the history does not tell. */
  undecidable: readonly string[];
};

/** A judge is pure: the same history gives the same finding. */
export type HistoryJudge = (digest: Digest) => Finding;

/** More than these would hide the first ones from a reader. */
export const shownFaults = 5;

/** A finding from all faults of one judge. */
export function finding(
  judge: JudgeName,
  faults: readonly Fault[],
  counts: Readonly<Record<string, number>>,
  undecidable: readonly string[] = [],
): Finding {
  return {
    judge,
    ok: faults.length === 0,
    faults: faults.slice(0, shownFaults),
    found: faults.length,
    counts,
    undecidable,
  };
}

/** Lines in order, each once. */
export function linesOf(...lines: readonly (number | null | undefined)[]): number[] {
  const present = lines.filter((line) => line !== null && line !== undefined);
  return [...new Set(present)].sort((a, b) => a - b);
}

/** A job or token as a person reads it: its first group. */
export function short(id: string): string {
  return id.split('-')[0] ?? id;
}

/** Microseconds as seconds with a unit, for sentences. */
export function secondsText(us: number): string {
  return `${(us / 1e6).toFixed(3)} s`;
}
