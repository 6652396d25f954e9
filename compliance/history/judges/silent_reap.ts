/**
 * Silent reap: a lease was reaped, or a job died, and no warning event says so (contract §6). Two
 * events where there was one transition would be a fault as well.
 */
import { finding, linesOf, short, type Fault, type HistoryJudge } from '../finding.ts';
import type { Change } from '../events.ts';
import type { At, JobStory } from '../story.ts';

export const silentReap: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  const counts = { reaped: 0, deaths: 0 };
  if (!digest.logged)
    return finding('silent-reap', [], counts, ['the history holds no log of row changes']);
  for (const story of digest.jobs.values()) {
    const reaps = story.changes.filter(
      ({ by, tokenWas, token }) =>
        by === 'fn_job_lease_reaper' && tokenWas !== null && token === null,
    );
    const deaths = story.changes.filter(({ from, to }) => to === 'dead_letter' && from !== to);
    counts.reaped += reaps.length;
    counts.deaths += deaths.length;
    const fault =
      mismatch(story, reaps, 'queue_lease_reaped') ??
      mismatch(story, deaths, 'queue_job_dead_lettered');
    if (fault !== undefined) faults.push(fault);
  }
  const undecidable =
    counts.reaped + counts.deaths === 0 ? ['nothing was reaped, and nothing died'] : [];
  return finding('silent-reap', faults, counts, undecidable);
};

function mismatch(
  { job, emitted }: JobStory,
  changes: readonly At<Change>[],
  type: string,
): Fault | undefined {
  const warnings = emitted.filter((one) => one.type === type && one.severity === 'warning');
  if (warnings.length === changes.length) return undefined;
  const says = `job ${short(job)}: ${changes.length} times cause for ${type}, and ${warnings.length} such warnings`;
  return {
    says,
    job,
    lines: linesOf(...changes.map(({ line }) => line), ...warnings.map(({ line }) => line)),
  };
}
