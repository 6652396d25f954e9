/** A job whose every worker dies ends as a dead letter, after exactly its maximum of grants. */
import { short } from '../../../history/finding.ts';
import { maximumOf } from '../../../history/judges/over_run.ts';
import { leasesOf } from '../../../history/leases.ts';
import type { Digest, JobStory } from '../../../history/story.ts';
import { kindsThat } from '../scenario.ts';
import type { TimedFinding } from '../findings.ts';
import { jobsOf } from './parts.ts';

/** The failure code that the contract gives such a death (D3). */
const failureCode = 'lease_expired_reaped_at_max_attempts';

export const crashLoop: TimedFinding = (digest, scenario) => {
  const rescued = kindsThat(scenario, 'rescue');
  const staying = new Set(scenario.jobs.filter(({ stays }) => stays).map(({ kind }) => kind));
  const stories = jobsOf(digest, scenario, 'die').filter(
    ({ row }) => row !== null && !rescued.has(row.kind) && !staying.has(row.kind),
  );
  const wrong = stories.map((story) => breach(digest, story)).find((says) => says !== undefined);
  const grants = stories.reduce((sum, story) => sum + leasesOf(story).length, 0);
  return [
    {
      is: 'assertion',
      name: `a job that kills every worker ends dead as ${failureCode}, after its maximum of grants`,
      ok: wrong === undefined,
      ...(wrong !== undefined && { seen: wrong }),
    },
    { is: 'count', name: 'crash_grants', value: grants },
    {
      is: 'count',
      name: 'crash_deaths',
      value: stories.filter(({ row }) => row?.status === 'dead_letter').length,
    },
  ];
};

function breach(digest: Digest, story: JobStory): string | undefined {
  const { row, deadLetters, job } = story;
  if (row?.status !== 'dead_letter') return undefined;
  const [most, runs] = [maximumOf(digest.header, row.kind), leasesOf(story).length];
  const codes = deadLetters.map(({ code }) => code).join(', ');
  if (runs === most && codes === failureCode) return undefined;
  return `job ${short(job)} died as ${codes} after ${runs} of ${most} grants`;
}
