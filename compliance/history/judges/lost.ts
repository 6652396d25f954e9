/**
 * Lost: an acknowledged enqueue that ends neither succeeded, dead nor live; and its mirror image, a
 * job that counts as succeeded though no worker ever said so.
 */
import { finding, linesOf, short, type Fault, type HistoryJudge } from '../finding.ts';
import type { JobStory } from '../story.ts';

const live: ReadonlySet<string> = new Set(['queued', 'leased', 'in_progress', 'retry_waiting']);

export const lost: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  const counts = { enqueued: 0, succeeded: 0, dead: 0, live: 0, recovered: 0 };
  for (const story of digest.jobs.values()) {
    const enqueue = story.enqueues.find(({ created }) => created) ?? story.enqueues[0];
    if (enqueue !== undefined) counts.enqueued += 1;
    const status = story.row?.status;
    if (status === 'succeeded' || status === 'cleaned') counts.succeeded += 1;
    else if (status === 'dead_letter') counts.dead += 1;
    else if (status !== undefined && live.has(status)) counts.live += 1;
    const says = existed(story) ? loss(story) : undefined;
    if (says === undefined) continue;
    faults.push({ says, job: story.job, lines: evidence(story) });
  }
  // An enqueue whose answer was lost, and which did happen: no other was told that it created the job.
  for (const { row, enqueues } of digest.jobs.values())
    if (row !== null && digest.unknownKeys.has(row.key) && !enqueues.some(({ created }) => created))
      counts.recovered += 1;
  const nothing = counts.enqueued === 0 ? ['no enqueue was acknowledged'] : [];
  return finding('lost', faults, counts, nothing);
};

/** A job that only a call named may never have been one. */
function existed({ enqueues, grants, changes, row }: JobStory): boolean {
  return row !== null || enqueues.length + grants.length + changes.length > 0;
}

function loss(story: JobStory): string | undefined {
  const { row, job } = story;
  if (row === null) return `job ${short(job)} was enqueued and is gone`;
  if (row.status === 'succeeded')
    return story.calls.some(({ f, end }) => f === 'succeed' && end !== 'fail')
      ? undefined
      : `job ${short(job)} counts as succeeded, and no worker said so`;
  if (row.status === 'dead_letter')
    return story.deadLetters.some(({ open }) => open)
      ? undefined
      : `job ${short(job)} is dead and has no open dead letter`;
  if (row.status === 'cleaned' || live.has(row.status)) return undefined;
  return `job ${short(job)} ends in a state that nobody documented: ${row.status}`;
}

function evidence(story: JobStory): number[] {
  const enqueue = story.enqueues[0]?.op.endLine;
  const last = story.calls.at(-1)?.endLine ?? story.grants.at(-1)?.op.endLine;
  return linesOf(enqueue, last, story.changes.at(-1)?.line, story.row?.line);
}
