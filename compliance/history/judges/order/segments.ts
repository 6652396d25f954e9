/** When each job was certainly ready to be claimed and touched by nobody. */
import type { Ns } from '../../calls.ts';
import type { ClaimOp, Digest, JobStory, Op } from '../../story.ts';
import type { Place } from './place.ts';

export type Segment = {
  place: Place;
  kind: string;
  /** The line that shows it became ready. */
  line: number;
  fromNs: Ns;
  untilNs: Ns;
};

/**
 * A spell of being claimable: begun by an operation that answered; ended by one that took it, or by an
 * unknown claim, or by either, whichever came first.
 */
type Spell = { begun: Op; taken: Op | null; perhapsByUnknown: boolean };

/** Every certain segment of every job. */
export function readySegments(digest: Digest): Segment[] {
  const unknownClaims = digest.claims.filter(({ end }) => end === 'info');
  const segments: Segment[] = [];
  for (const story of digest.jobs.values()) {
    const { row } = story;
    if (row === null) continue;
    const { kind, priority, enqueuedUs, job } = row;
    const place = { priority, enqueuedUs, job };
    const touches = touchesOf(story);
    for (const spell of digest.logged ? loggedSpells(digest, story) : enqueuedSpell(story)) {
      const line = spell.begun.endLine;
      const [fromNs, untilNs] = [spell.begun.endNs, endOf(spell, kind, unknownClaims)];
      for (const [from, until] of without(fromNs, untilNs, touches))
        segments.push({ place, kind, line, fromNs: from, untilNs: until });
    }
  }
  return segments;
}

/** Calls that named the job, accepted or refused: each may have held its row's lock for a while. */
function touchesOf(story: JobStory): Op[] {
  return [...story.calls, ...story.enqueues.filter(({ created }) => !created).map(({ op }) => op)];
}

function loggedSpells(digest: Digest, { changes }: JobStory): Spell[] {
  const spells: Spell[] = [];
  let begun: Op | undefined;
  for (const { claimable, tx } of changes) {
    const op = digest.opOfTx.get(tx);
    if (begun !== undefined && !claimable) {
      spells.push({ begun, taken: op ?? null, perhapsByUnknown: op === undefined });
      begun = undefined;
    } else if (begun === undefined && claimable) begun = op;
  }
  if (begun !== undefined) spells.push({ begun, taken: null, perhapsByUnknown: false });
  return spells;
}

/** Without a row log only the first spell is known: from the enqueue to the first claim. */
function enqueuedSpell({ enqueues, grants }: JobStory): Spell[] {
  const first = enqueues.find(({ created, dueUs }) => created && dueUs === null);
  if (first === undefined) return [];
  return [{ begun: first.op, taken: grants[0]?.op ?? null, perhapsByUnknown: true }];
}

/**
 * A claim that nobody knows may have taken it at any moment since the first such claim began; even
 * before the enqueue or the flip had answered.
 */
function endOf(
  { begun, taken, perhapsByUnknown }: Spell,
  kind: string,
  unknown: readonly ClaimOp[],
): Ns {
  const known = taken?.startNs ?? Infinity;
  if (!perhapsByUnknown) return known;
  const maybe = unknown.filter((op) => op.endNs > begun.startNs && op.kinds.includes(kind));
  return maybe.reduce((least, { startNs }) => Math.min(least, startNs), known);
}

/** The parts of a segment that no touch overlaps. */
function without(fromNs: Ns, untilNs: Ns, touches: readonly Op[]): [Ns, Ns][] {
  const parts: [Ns, Ns][] = [];
  let start = fromNs;
  const inside = touches.filter((op) => op.endNs > fromNs && op.startNs < untilNs);
  for (const { startNs, endNs } of inside.sort((a, b) => a.startNs - b.startNs)) {
    if (startNs > start) parts.push([start, startNs]);
    start = Math.max(start, endNs);
  }
  if (start < untilNs) parts.push([start, untilNs]);
  return parts;
}
