/**
 * Double terminal: two accepted terminal transitions in one generation; a terminal state that was
 * left without a replay; an acknowledged completion that the final row does not show.
 */
import { finding, linesOf, short, type Fault, type HistoryJudge } from '../finding.ts';
import type { JobStory, Op } from '../story.ts';

const terminal: ReadonlySet<string> = new Set(['succeeded', 'dead_letter', 'cleaned']);

export const doubleTerminal: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  let terminals = 0;
  for (const story of digest.jobs.values()) {
    const ends = story.calls.filter(isTerminal);
    terminals += ends.length;
    const fault = twice(story, ends) ?? left(story) ?? overwritten(story, ends);
    if (fault !== undefined) faults.push(fault);
  }
  const nothing = terminals === 0 ? ['no terminal transition was accepted'] : [];
  return finding('double-terminal', faults, { terminals }, nothing);
};

function isTerminal(op: Op): boolean {
  return op.end === 'ok' && !op.already && op.to !== null && terminal.has(op.to);
}

function twice(story: JobStory, ends: readonly Op[]): Fault | undefined {
  if (story.calls.some(({ f, end }) => f === 'replay' && end !== 'fail')) return undefined;
  const [first, second] = ends;
  if (first === undefined || second === undefined) return undefined;
  const says = `job ${short(story.job)} was ended twice: ${first.f}, then ${second.f}, both accepted`;
  return { says, job: story.job, lines: linesOf(first.endLine, second.endLine) };
}

/** The two ways out that are documented: cleaning what succeeded, and replay. */
function left({ changes, job }: JobStory): Fault | undefined {
  const change = changes.find(
    ({ from, to, by }) =>
      from !== null &&
      terminal.has(from) &&
      to !== from &&
      by !== 'fn_job_dead_letter_replay' &&
      !(from === 'succeeded' && to === 'cleaned'),
  );
  if (change === undefined) return undefined;
  const reached = changes.findLast(({ to, seq }) => to === change.from && seq < change.seq);
  const says = `job ${short(job)} was ${String(change.from)}, and ${change.by} made it ${String(change.to)}`;
  return { says, job, lines: linesOf(reached?.line, change.line) };
}

function overwritten({ job, row, calls }: JobStory, ends: readonly Op[]): Fault | undefined {
  if (row === null || calls.some(({ f }) => f === 'replay')) return undefined;
  const end = ends.find(({ to }) => to !== row.status && row.status !== 'cleaned');
  if (end === undefined) return undefined;
  const says = `${end.f} on job ${short(job)} was accepted as ${String(end.to)}; the row ends ${row.status}`;
  return { says, job, lines: linesOf(end.endLine, row.line) };
}
