/** The leases of one job in order, from what claims answered and from what the row log saw. Pure. */
import { endsLease, type Us } from './calls.ts';
import type { Change } from './events.ts';
import type { At, Grant, JobStory, Op } from './story.ts';

export type Lease = {
  token: string;
  /** The claim's answer; null when it was lost. */
  grant: Grant | null;
  /** The row changes that gave and took the token; null without a row log, or while it is held. */
  began: At<Change> | null;
  ended: At<Change> | null;
  /** Latest moment at which it can have begun. */
  beganUs: Us;
  /** Its end as last set, renewals included. */
  untilUs: Us;
};

/** Every lease of the job, oldest first. */
export function leasesOf(story: JobStory): Lease[] {
  const byToken = new Map<string, Grant>();
  for (const grant of story.grants) byToken.set(grant.token, grant);
  const leases = loggedLeases(story.changes, byToken);
  const logged = new Set(leases.map(({ token }) => token));
  for (const grant of story.grants)
    if (!logged.has(grant.token)) leases.push(answeredLease(story, grant));
  return leases.sort((a, b) => a.beganUs - b.beganUs);
}

/** The line that shows how a lease began. */
export function lineOf({ grant, began }: Lease): number {
  return grant?.op.endLine ?? began?.line ?? 0;
}

/** The function names that end a lease for its holder. */
const endings: ReadonlySet<string> = new Set([
  'fn_job_succeed',
  'fn_job_fail_transient',
  'fn_job_fail_permanent',
]);

/** Whether a row change was made by the holder's own call, not by a reaper or a thief. */
export function endedByHolder(change: At<Change>): boolean {
  return endings.has(change.by);
}

/** Calls with this token that ended its lease, or may have: accepted ones and unknown ones. */
export function endingsOf(story: JobStory, token: string): Op[] {
  return story.calls.filter(
    (op) => op.token === token && endsLease(op.f) && op.end !== 'fail' && !op.already,
  );
}

function loggedLeases(changes: readonly At<Change>[], grants: Map<string, Grant>): Lease[] {
  const leases: Lease[] = [];
  let current: Lease | undefined;
  for (const change of changes) {
    if (current) {
      if (change.token === current.token) {
        current.untilUs = change.untilUs ?? current.untilUs;
        continue;
      }
      current.ended = change;
      current = undefined;
    }
    if (change.token === null || change.token === change.tokenWas) continue;
    current = {
      token: change.token,
      grant: grants.get(change.token) ?? null,
      began: change,
      ended: null,
      beganUs: change.atUs,
      untilUs: change.untilUs ?? change.atUs,
    };
    leases.push(current);
  }
  return leases;
}

function answeredLease(story: JobStory, grant: Grant): Lease {
  const renewals = story.calls.filter(
    ({ f, token, end, untilUs }) =>
      f === 'renew' && end === 'ok' && token === grant.token && untilUs !== null,
  );
  const untilUs = Math.max(grant.untilUs, ...renewals.map((op) => op.untilUs ?? 0));
  return { token: grant.token, grant, began: null, ended: null, beganUs: grant.op.atUs, untilUs };
}
