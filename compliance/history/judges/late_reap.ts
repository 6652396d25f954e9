/**
 * Late reap: a sweep that started after a lease had expired passed over the unlocked row. Only
 * sweeps that answered count. When none started after the expiry, nobody can tell: the sweep is
 * called from outside, and a late call is not the queue's fault.
 */
import { finding, linesOf, secondsText, short, type Fault, type HistoryJudge } from '../finding.ts';
import { endedByHolder, leasesOf, lineOf, type Lease } from '../leases.ts';
import { overlap, type Digest, type JobStory, type ReapOp } from '../story.ts';

export const lateReap: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  const undecidable: string[] = [];
  const counts = { expired: 0, sweeps: 0 };
  const lastUs = lastMoment(digest);
  const sweeps = digest.reaps.filter(({ end }) => end === 'ok');
  counts.sweeps = sweeps.length;
  for (const story of digest.jobs.values()) {
    for (const lease of leasesOf(story)) {
      const endUs = expiredUntil(story, lease, lastUs);
      if (endUs === undefined) continue;
      counts.expired += 1;
      const after = sweeps.filter(({ fromUs }) => fromUs > lease.untilUs);
      const missed = after.find((sweep) => passedOver(digest, story, lease, endUs, sweep));
      if (missed !== undefined) faults.push(fault(story, lease, missed));
      else if (after.length === 0 && endUs === Infinity)
        undecidable.push(`no sweep started after the lease of job ${short(story.job)} had expired`);
    }
  }
  if (counts.expired === 0) undecidable.push('no lease expired');
  return finding('late-reap', faults, counts, undecidable);
};

/** The last moment that any answer tells of: a lease that ends later had not expired yet. */
function lastMoment({ ops }: Digest): number {
  return ops.reduce((last, { atUs }) => (atUs > last ? atUs : last), 0);
}

/** The moment an expired lease was taken, Infinity when never; undefined when it did not expire. */
function expiredUntil(story: JobStory, lease: Lease, lastUs: number): number | undefined {
  if (lease.untilUs > lastUs) return undefined;
  const { ended, began } = lease;
  if (ended !== null)
    return endedByHolder(ended) || ended.atUs < lease.untilUs ? undefined : ended.atUs;
  const held = story.row !== null && story.row.untilUs !== null;
  // Without a row log only a lease that the final row still shows is certain to have gone on.
  return held && (began !== null || story.grants.at(-1) === lease.grant) ? Infinity : undefined;
}

function passedOver(
  digest: Digest,
  story: JobStory,
  lease: Lease,
  endUs: number,
  sweep: ReapOp,
): boolean {
  if (sweep.atUs >= endUs || sweep.reaped + sweep.dead >= sweep.limit) return false;
  if (sweep.skipped.includes(story.job)) return false;
  const taker = lease.ended === null ? undefined : digest.opOfTx.get(lease.ended.tx);
  const besides = [...story.calls, ...digest.reaps.filter((op) => op.end !== 'ok')];
  if (taker !== undefined) besides.push(taker);
  if (lease.grant === null) besides.push(...digest.claims.filter(({ end }) => end === 'info'));
  else besides.push(lease.grant.op);
  return !besides.some((op) => op !== sweep && overlap(op, sweep));
}

function fault(story: JobStory, lease: Lease, sweep: ReapOp): Fault {
  const sinceText = secondsText(sweep.fromUs - lease.untilUs);
  const says =
    `a sweep that started ${sinceText} after the lease of job ${short(story.job)} had expired ` +
    'passed over it, and nothing else held its row';
  const lines = linesOf(
    lineOf(lease),
    sweep.line,
    sweep.endLine,
    lease.ended?.line ?? story.row?.line,
  );
  return { says, job: story.job, lines };
}
