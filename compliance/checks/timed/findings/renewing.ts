/** A worker that renews in time keeps its one lease for more than five TTLs. */
import { leasesOf } from '../../../history/leases.ts';
import { secondsText, short } from '../../../history/finding.ts';
import type { Digest, JobStory, Op } from '../../../history/story.ts';
import type { Observation } from '../../../types.ts';
import type { TimedFinding } from '../findings.ts';
import { jobsOf } from './parts.ts';

export const renewing: TimedFinding = (digest, scenario) => {
  const stories = jobsOf(digest, scenario, 'renew');
  const ttlUs =
    1e6 *
    Math.max(
      ...scenario.cast.map(({ does, ttl_seconds: ttl }) => (does === 'renew' ? (ttl ?? 0) : 0)),
    );
  const wrong = stories.map((story) => breach(story, ttlUs)).find((says) => says !== undefined);
  const doubts = stories.flatMap((story) => doubt(digest, story));
  const held = stories.map((story) => heldUs(story) / ttlUs);
  return [
    {
      is: 'assertion',
      name: 'a worker that renews in time is never reaped',
      ok: wrong === undefined,
      ...(wrong !== undefined && { seen: wrong }),
    },
    {
      is: 'count',
      name: 'renewed_ttls',
      value: Math.floor(held.length === 0 ? 0 : Math.min(...held)),
    },
    ...doubts,
  ];
};

/** Each accepted renewal must move the end to a whole TTL ahead; no reap may come before that end. */
function breach(story: JobStory, ttlUs: number): string | undefined {
  const name = `job ${short(story.job)}`;
  const renewals = renewalsOf(story);
  const short_ = renewals.find(({ untilUs, fromUs }) => (untilUs ?? 0) < fromUs + ttlUs);
  if (short_ !== undefined)
    return `a renewal of ${name} was accepted and left ${secondsText((short_.untilUs ?? 0) - short_.fromUs)}`;
  const unkept = renewals.find(({ tx, untilUs }) =>
    story.changes.some((change) => change.tx === tx && change.untilUs !== untilUs),
  );
  if (unkept !== undefined)
    return `a renewal of ${name} promised an end that the row does not have`;
  const promisedUs = Math.max(0, ...renewals.map(({ untilUs }) => untilUs ?? 0));
  const taken = leasesOf(story)
    .map(({ ended }) => ended)
    .find((ended) => ended?.by === 'fn_job_lease_reaper');
  if (taken === undefined || taken === null || taken.atUs >= promisedUs) return undefined;
  return `${name} was reaped ${secondsText(promisedUs - taken.atUs)} before the end that a renewal had promised`;
}

/** Reaped after a renewal of ours that came too late: that is our own doing. */
function doubt(digest: Digest, story: JobStory): Observation[] {
  const reaped = leasesOf(story).some(({ ended }) => ended?.by === 'fn_job_lease_reaper');
  if (!reaped) return [];
  const because = `a renewal of job ${short(story.job)} was sent after its lease had ended`;
  return digest.logged ? [{ is: 'undecidable', name: 'late renewal', because }] : [];
}

function renewalsOf({ calls }: JobStory): Op[] {
  return calls.filter(({ f, end }) => f === 'renew' && end === 'ok');
}

/** How long its first lease was held, up to the last accepted renewal. */
function heldUs(story: JobStory): number {
  const [first] = leasesOf(story);
  const last = renewalsOf(story).at(-1);
  return first === undefined || last === undefined ? 0 : last.atUs - first.beganUs;
}
