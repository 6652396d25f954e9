/**
 * Stale write accepted: a lease call was accepted with a token that was not current: never granted,
 * superseded, already ended, or expired.
 */
import { finding, linesOf, secondsText, short, type Fault, type HistoryJudge } from '../finding.ts';
import { endingsOf, leasesOf, lineOf, type Lease } from '../leases.ts';
import type { JobStory, Op } from '../story.ts';

export const staleWrite: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  const counts = { accepted: 0, stale_calls: 0, superseded_calls: 0 };
  for (const story of digest.jobs.values()) {
    const leases = leasesOf(story);
    for (const op of story.calls) {
      if (op.token === null) continue;
      if (op.end === 'fail') counts.stale_calls += 1;
      if (op.reason === 'lease_token_mismatch') counts.superseded_calls += 1;
      if (op.end !== 'ok' || op.already) continue;
      counts.accepted += 1;
      const stale = staleness(story, leases, op);
      if (stale === undefined) continue;
      const says = `${op.f} on job ${short(story.job)} was accepted with token ${short(op.token)}, ${stale.why}`;
      faults.push({ says, job: story.job, lines: linesOf(...stale.lines, op.line, op.endLine) });
    }
  }
  const nothing = counts.accepted === 0 ? ['no lease call was accepted'] : [];
  return finding('stale-write', faults, counts, nothing);
};

type Stale = { why: string; lines: (number | undefined)[] };

function staleness(story: JobStory, leases: readonly Lease[], op: Op): Stale | undefined {
  const index = leases.findIndex(({ token }) => token === op.token);
  const lease = leases[index];
  if (lease === undefined) return { why: 'which was never granted for it', lines: [] };
  return (
    otherTokenInRow(story, op) ??
    superseded(leases.slice(index + 1), op) ??
    endedBefore(story, lease, op) ??
    expired(story, lease, op)
  );
}

/** The row log shows which token the row really held when the call changed it. */
function otherTokenInRow({ changes }: JobStory, op: Op): Stale | undefined {
  const change = changes.find(({ tx }) => tx === op.tx);
  if (change === undefined || change.tokenWas === op.token) return undefined;
  const held = change.tokenWas === null ? 'no token' : `token ${short(change.tokenWas)}`;
  return { why: `while the row held ${held}`, lines: [change.line] };
}

function superseded(later: readonly Lease[], op: Op): Stale | undefined {
  const next = later.find(({ grant }) => grant !== null && grant.op.endNs < op.startNs);
  if (next === undefined) return undefined;
  return { why: `after token ${short(next.token)} had been granted`, lines: [lineOf(next)] };
}

function endedBefore(story: JobStory, lease: Lease, op: Op): Stale | undefined {
  const ending = endingsOf(story, lease.token).find(
    (other) => other !== op && other.end === 'ok' && other.endNs < op.startNs,
  );
  if (ending === undefined) return undefined;
  return { why: `after ${ending.f} had ended that lease`, lines: [ending.endLine] };
}

/** A renewal whose answer was lost may have moved the end: then only the row log can tell. */
function expired(story: JobStory, lease: Lease, op: Op): Stale | undefined {
  const change = story.changes.find(({ tx }) => tx === op.tx);
  const moved = story.calls.some(
    ({ f, token, end }) => f === 'renew' && token === op.token && end === 'info',
  );
  const untilUs = change?.untilWasUs ?? (moved ? Infinity : lease.untilUs);
  const lateUs = op.fromUs - untilUs;
  if (!(lateUs > 0)) return undefined;
  return { why: `${secondsText(lateUs)} after that lease had expired`, lines: [lineOf(lease)] };
}
