/**
 * Unexpected: a claim of a job that was never enqueued; also of another kind than it asked for,
 * of a job that was not due, of other content than enqueued, or of more jobs than its limit.
 */
import { finding, linesOf, secondsText, short, type Fault, type HistoryJudge } from '../finding.ts';
import type { ClaimOp, Digest, Grant, JobStory } from '../story.ts';

export const unexpected: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  let grants = 0;
  for (const claim of digest.claims) {
    grants += claim.grants.length;
    const excess = tooMany(claim);
    if (excess !== undefined) faults.push(excess);
    for (const grant of claim.grants) {
      const says = surprise(digest, grant);
      if (says === undefined) continue;
      const enqueued = digest.jobs.get(grant.job)?.enqueues[0]?.op.endLine;
      faults.push({ says, job: grant.job, lines: linesOf(enqueued, claim.line, claim.endLine) });
    }
  }
  return finding('unexpected', faults, { grants }, grants === 0 ? ['nothing was granted'] : []);
};

function tooMany({ grants, limit, line, endLine }: ClaimOp): Fault | undefined {
  if (grants.length <= limit) return undefined;
  const says = `a claim of at most ${limit} returned ${grants.length} jobs`;
  return { says, job: null, lines: linesOf(line, endLine) };
}

function surprise(digest: Digest, grant: Grant): string | undefined {
  const name = `job ${short(grant.job)}`;
  const story = digest.jobs.get(grant.job);
  if (story === undefined || !wasEnqueued(digest, story, grant))
    return `${name} was claimed and never enqueued`;
  if (!grant.op.kinds.includes(grant.kind))
    return `${name} of kind ${grant.kind} was claimed by a call for ${grant.op.kinds.join(', ')}`;
  const enqueue = story.enqueues.find(({ created }) => created);
  if (enqueue === undefined) return undefined;
  if (enqueue.kind !== grant.kind || enqueue.priority !== grant.priority)
    return (
      `${name} was enqueued as ${enqueue.kind} with priority ${enqueue.priority} ` +
      `and claimed as ${grant.kind} with priority ${grant.priority}`
    );
  if (enqueue.dueUs !== null && grant.op.atUs < enqueue.dueUs)
    return `${name} was claimed ${secondsText(enqueue.dueUs - grant.op.atUs)} before it was due`;
  return undefined;
}

/** By its id when the enqueue was answered, by its key when the answer was lost. */
function wasEnqueued(digest: Digest, story: JobStory, { key }: Grant): boolean {
  return story.enqueues.length > 0 || (key !== null && digest.unknownKeys.has(key));
}
