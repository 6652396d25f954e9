/** `--timings`: where each second went, as a chart of bars. Pure. */
import type { Span } from '../run/events.ts';
import { fit } from './style.ts';

const BAR_COLUMNS = 40;

/** A line a span, in order of its start: from when to when, and a bar in proportion. */
export function timingLines(spans: readonly Span[]): string[] {
  const endMs = Math.max(1, ...spans.map(({ toMs }) => toMs));
  const column = (ms: number): number => Math.round((ms / endMs) * BAR_COLUMNS);
  return spans
    .toSorted((a, b) => a.fromMs - b.fromMs || b.toMs - a.toMs)
    .map(({ what, fromMs, toMs }) => {
      const from = Math.min(column(fromMs), BAR_COLUMNS - 1);
      const bar = ' '.repeat(from) + '█'.repeat(Math.max(1, column(toMs) - from));
      return `${seconds(fromMs)} ${seconds(toMs - fromMs)}  ${fit(bar, BAR_COLUMNS)}  ${what}`;
    });
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2).padStart(7)} s`;
}
