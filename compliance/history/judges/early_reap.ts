/**
 * Early reap: a lease was taken away while `leased_until` was ahead. Seen in the row log, or, where
 * there is none, in the audit row of the reaper.
 */
import { finding, linesOf, secondsText, short, type Fault, type HistoryJudge } from '../finding.ts';
import { endedByHolder, leasesOf, lineOf, type Lease } from '../leases.ts';
import type { JobStory } from '../story.ts';

export const earlyReap: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  let reaped = 0;
  for (const story of digest.jobs.values()) {
    for (const lease of leasesOf(story)) {
      const seen = reapOf(story, lease);
      if (seen === undefined) continue;
      reaped += 1;
      const earlyUs = lease.untilUs - seen.atUs;
      if (earlyUs <= 0) continue;
      const says = `job ${short(story.job)} was reaped ${secondsText(earlyUs)} before its lease ended`;
      faults.push({ says, job: story.job, lines: linesOf(lineOf(lease), seen.line) });
    }
  }
  return finding('early-reap', faults, { reaped }, reaped === 0 ? ['nothing was reaped'] : []);
};

type Seen = { atUs: number; line: number };

/** Who takes a lease in a claim is a thief, which double-hold reports. */
function reapOf(story: JobStory, lease: Lease): Seen | undefined {
  const { ended, began } = lease;
  if (ended !== null) {
    const stolen = ended.by.startsWith('fn_job_claim');
    return endedByHolder(ended) || stolen ? undefined : ended;
  }
  if (began !== null) return undefined;
  // Without a row log: the first reap that the audit shows after the lease began.
  return story.audits.find(
    ({ command, refused, atUs }) => isReaper(command) && !refused && atUs > lease.beganUs,
  );
}

/** Whether the audit or a sweep names the reaper. */
export function isReaper(command: string): boolean {
  return command.includes('reap');
}
