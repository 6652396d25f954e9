/**
 * Double hold: two granted leases of one job overlap in `[granted, min(leased_until, released))`.
 * A reap is no release: a holder whose lease was taken early still believes it holds.
 */
import { finding, linesOf, secondsText, short, type Fault, type HistoryJudge } from '../finding.ts';
import { endedByHolder, endingsOf, leasesOf, lineOf, type Lease } from '../leases.ts';
import type { JobStory } from '../story.ts';

export const doubleHold: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  let grants = 0;
  for (const story of digest.jobs.values()) {
    const leases = leasesOf(story);
    grants += leases.length;
    leases.forEach((lease, index) => {
      const next = leases[index + 1];
      if (next === undefined) return;
      const overlapUs = heldUntil(story, lease, next) - next.beganUs;
      if (overlapUs > 0) faults.push(fault(lease, next, story.job, overlapUs));
    });
  }
  return finding('double-hold', faults, { grants }, grants === 0 ? ['nothing was granted'] : []);
};

/** The moment up to which the first lease certainly held when the next one began; 0 when unsure. */
function heldUntil(story: JobStory, lease: Lease, next: Lease): number {
  const { ended, untilUs } = lease;
  if (ended !== null && endedByHolder(ended)) return Math.min(untilUs, ended.atUs);
  if (ended !== null) return untilUs;
  const nextOp = next.grant?.op;
  const maybe = endingsOf(story, lease.token).some(
    (op) => nextOp === undefined || op.startNs < nextOp.endNs,
  );
  return maybe ? 0 : untilUs;
}

function fault(lease: Lease, next: Lease, job: string, overlapUs: number): Fault {
  const says =
    `job ${short(job)} was leased as ${short(next.token)} while ${short(lease.token)} ` +
    `still held it, for another ${secondsText(overlapUs)}`;
  return { says, job, lines: linesOf(lineOf(lease), lease.ended?.line, lineOf(next)) };
}
