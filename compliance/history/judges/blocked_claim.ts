/** Blocked claim: a claim waited for another session's row lock, as a watching session saw it. */
import { finding, linesOf, type Fault, type HistoryJudge } from '../finding.ts';
import type { Blocked } from '../events.ts';
import { overlap, type At, type ClaimOp, type Digest, type Op } from '../story.ts';

export const blockedClaim: HistoryJudge = (digest) => {
  const faults = digest.blocked
    .filter(({ running }) => running.startsWith('fn_job_claim'))
    .map((seen): Fault => {
      const claim = claimOf(digest, seen);
      const holders = seen.by.map((pid) => holderOf(digest, pid, seen));
      const who = holders[0] === undefined ? `backend ${seen.by.join(', ')}` : holders[0].id;
      const says = `claim ${claim?.id ?? `of backend ${seen.pid}`} waited for a ${seen.lock} lock of ${who}`;
      const lines = linesOf(...holders.map((op) => op?.line), claim?.line, seen.line);
      return { says, job: claim?.grants[0]?.job ?? null, lines };
    });
  const counts = { claims: digest.claims.length, beside_a_holder: besideHolder(digest.claims) };
  const nothing = counts.claims === 0 ? ['no claim was made'] : [];
  return finding('blocked-claim', firstOfEach(faults), counts, nothing);
};

/** Claims that ran while another one sat in an open transaction: the ones that could have waited. */
function besideHolder(claims: readonly ClaimOp[]): number {
  const held = claims.filter(({ heldMs }) => heldMs > 0);
  return claims.filter(
    (claim) =>
      claim.heldMs === 0 &&
      held.some((holder) => holder.proc !== claim.proc && overlap(claim, holder)),
  ).length;
}

function claimOf(digest: Digest, { pid, ns }: At<Blocked>): ClaimOp | undefined {
  return digest.claims.find((op) => op.pid === pid && op.startNs <= ns && ns <= op.endNs);
}

function holderOf(digest: Digest, pid: number, { ns }: At<Blocked>): Op | undefined {
  return digest.ops.findLast((op) => op.pid === pid && op.startNs <= ns);
}

/** A wait that was seen by several polls is one fault. */
function firstOfEach(faults: readonly Fault[]): Fault[] {
  const bySentence = new Map<string, Fault>();
  for (const fault of faults) if (!bySentence.has(fault.says)) bySentence.set(fault.says, fault);
  return [...bySentence.values()];
}
