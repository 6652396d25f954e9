/** From rounds to the lines that are printed. Pure. */
import type { Round } from './load.ts';

export type Cell = {
  clients: number;
  batch: number;
  /** Round by round, the two contenders one after the other. */
  textbook: readonly Round[];
  dieu45: readonly Round[];
};

export const HEADINGS = [
  ...['clients', 'batch', 'textbook jobs/s', 'dieu45 jobs/s', 'ratio', 'spread'],
  ...['textbook claim p50 ms', 'dieu45 claim p50 ms', 'ratio'],
];

/**
 * One line: median rates and median claims, and dieu45 as a ratio to the textbook. The ratio is the
 * median of the rounds' own ratios, since two rounds that follow each other share their noise; the
 * spread is its least and greatest.
 */
export function line({ clients, batch, textbook, dieu45 }: Cell): string[] {
  const rates = [textbook, dieu45].map((rounds) => rounds.map(rateOf));
  const claims = [textbook, dieu45].map((rounds) =>
    median(rounds.map(({ claimMs }) => median(claimMs))),
  );
  const ratios = (rates[1] ?? []).map((rate, round) => rate / (rates[0]?.[round] ?? NaN));
  return [
    String(clients),
    String(batch),
    ...rates.map((all) => median(all).toFixed(0)),
    median(ratios).toFixed(2),
    `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    ...claims.map((ms) => ms.toFixed(2)),
    ((claims[1] ?? NaN) / (claims[0] ?? NaN)).toFixed(2),
  ];
}

export function rateOf({ jobs, elapsedMs }: Round): number {
  return jobs / (elapsedMs / 1_000);
}

/** NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** Columns side by side, numbers to the right. */
export function table(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  return lines
    .map((cells) => cells.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '))
    .join('\n');
}
