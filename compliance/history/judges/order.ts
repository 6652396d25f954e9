/**
 * Order: a claim took B while A, better placed, had been ready since before the call and was named
 * or flipped by no overlapping or unknown call. "Ready" is counted only where it is certain: from
 * the moment the enqueue or the flip had been answered until the first call that may have touched A.
 */
import { finding, linesOf, short, type Fault, type HistoryJudge } from '../finding.ts';
import { overlap, type ClaimOp, type Digest, type Grant } from '../story.ts';
import { before, type Place } from './order/place.ts';
import { readySegments, type Segment } from './order/segments.ts';
import { readyQueue, type ReadyQueue } from './order/ready_queue.ts';

export const order: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  const segments = readySegments(digest).sort((a, b) => a.fromNs - b.fromNs);
  const claims = digest.claims
    .filter(({ end, grants }) => end === 'ok' && grants.length > 0)
    .sort((a, b) => a.startNs - b.startNs);
  const hidden = hiddenClaims(digest);
  const byKind = new Map<string, ReadyQueue>();
  let added = 0;
  for (const claim of claims) {
    for (; (segments[added]?.fromNs ?? Infinity) < claim.startNs; added += 1) {
      const segment = segments[added];
      if (segment === undefined) break;
      let queue = byKind.get(segment.kind);
      if (queue === undefined) byKind.set(segment.kind, (queue = readyQueue()));
      queue.add(segment);
    }
    const jumbled = outOfOrder(claim);
    if (jumbled !== undefined) faults.push(jumbled);
    const overtaken = passedOver(claim, byKind, hidden);
    if (overtaken !== undefined) faults.push(overtaken);
  }
  const counts = {
    claims: claims.length,
    ready: segments.length,
    overlapping_claims: overlapping(claims),
  };
  return finding('order', faults, counts, claims.length === 0 ? ['nothing was granted'] : []);
};

/** Claims that may have locked rows without naming them: refused, aborted and unknown ones. */
function hiddenClaims(digest: Digest): ClaimOp[] {
  return digest.claims.filter(({ end }) => end !== 'ok');
}

/** The last of what a claim took in the order of the queue. */
function worst({ grants }: ClaimOp): Grant | undefined {
  return grants.reduce<Grant | undefined>(
    (last, grant) => (last === undefined || before(placeOf(last), placeOf(grant)) ? grant : last),
    undefined,
  );
}

function placeOf({ priority, enqueuedUs, job }: Grant): Place {
  return { priority, enqueuedUs, job };
}

function outOfOrder(claim: ClaimOp): Fault | undefined {
  const index = claim.grants.findIndex((grant, at) => {
    const next = claim.grants[at + 1];
    return next !== undefined && before(placeOf(next), placeOf(grant));
  });
  const [first, second] = [claim.grants[index], claim.grants[index + 1]];
  if (first === undefined || second === undefined) return undefined;
  const says = `one claim returned job ${short(first.job)} before job ${short(second.job)}, which is better placed`;
  return { says, job: second.job, lines: linesOf(claim.line, claim.endLine) };
}

function passedOver(
  claim: ClaimOp,
  byKind: ReadonlyMap<string, ReadyQueue>,
  hidden: readonly ClaimOp[],
): Fault | undefined {
  const last = worst(claim);
  if (last === undefined) return undefined;
  for (const kind of claim.kinds) {
    const best = byKind.get(kind)?.best(claim.startNs, claim.endNs);
    if (best === undefined || !before(best.place, placeOf(last))) continue;
    const excused = hidden.some((other) => other.kinds.includes(kind) && overlap(other, claim));
    if (!excused) return overtaking(claim, best, last);
  }
  return undefined;
}

function overtaking(claim: ClaimOp, best: Segment, last: Grant): Fault {
  const why =
    best.place.priority === last.priority
      ? 'was enqueued earlier'
      : `has priority ${best.place.priority} against ${last.priority}`;
  const says =
    `a claim took job ${short(last.job)} and passed over job ${short(best.place.job)}, ` +
    `which ${why} and was ready and untouched`;
  return { says, job: best.place.job, lines: linesOf(best.line, claim.line, claim.endLine) };
}

/** Claims that overlapped another one taking a better-placed job that they asked for as well. */
function overlapping(claims: readonly ClaimOp[]): number {
  let count = 0;
  let active: ClaimOp[] = [];
  const met = new Set<ClaimOp>();
  const meet = (a: ClaimOp, b: ClaimOp): void => {
    const last = worst(a);
    if (last === undefined || met.has(a)) return;
    const better = b.grants.some(
      (grant) => a.kinds.includes(grant.kind) && before(placeOf(grant), placeOf(last)),
    );
    if (!better) return;
    met.add(a);
    count += 1;
  };
  for (const claim of claims) {
    active = active.filter(({ endNs }) => endNs > claim.startNs);
    for (const other of active) {
      meet(claim, other);
      meet(other, claim);
    }
    active.push(claim);
  }
  return count;
}
