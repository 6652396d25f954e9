/** After a kill, another worker is granted the job and finishes it: the crash is not for ever. */
import { maximumOf } from '../../../history/judges/over_run.ts';
import { short } from '../../../history/finding.ts';
import type { Digest, Grant, JobStory } from '../../../history/story.ts';
import type { TimedFinding } from '../findings.ts';
import { jobsOf } from './parts.ts';

export const killToGrant: TimedFinding = (digest, scenario) => {
  const staying = new Set(scenario.jobs.filter(({ stays }) => stays).map(({ kind }) => kind));
  const rescued = new Set(
    scenario.cast.filter(({ does }) => does === 'rescue').flatMap(({ kinds }) => kinds),
  );
  const stories = jobsOf(digest, scenario, 'die').filter(
    ({ row }) => row !== null && rescued.has(row.kind) && !staying.has(row.kind),
  );
  const unfinished = stories.find((story) => !finishedByAnother(digest, story));
  const gaps = stories.flatMap((story) => gapsOf(digest, story));
  return [
    {
      is: 'assertion',
      name: 'the job of every killed worker is finished by another',
      ok: unfinished === undefined,
      ...(unfinished !== undefined && {
        seen: `job ${short(unfinished.job)} ends ${unfinished.row?.status ?? 'nowhere'}`,
      }),
    },
    { is: 'count', name: 'finished_by_another', value: stories.length - (unfinished ? 1 : 0) },
    {
      is: 'count',
      name: 'kills',
      value: digest.faults.filter(({ kind }) => kind === 'kill_worker').length,
    },
    ...gaps.slice(0, 1).map(() => {
      const longest = gaps.reduce((a, b) => (a.ms > b.ms ? a : b));
      return {
        is: 'measure' as const,
        name: "from kill to another worker's grant, longest",
        value: Math.round(longest.ms),
        unit: 'ms' as const,
        uncertainty: Math.ceil(longest.uncertainMs),
      };
    }),
  ];
};

function finishedByAnother(digest: Digest, story: JobStory): boolean {
  const { row, grants } = story;
  const procs = new Set(grants.map(({ op }) => op.proc));
  return (
    row?.status === 'succeeded' &&
    procs.size > 1 &&
    grants.length <= maximumOf(digest.header, row.kind)
  );
}

/** From each kill of a holder to the next grant; known to within the claim call that got it. */
function gapsOf({ faults }: Digest, { grants }: JobStory): { ms: number; uncertainMs: number }[] {
  return grants.slice(1).flatMap((next: Grant, index) => {
    const holder = grants[index];
    const kill = faults.find(
      ({ kind, proc }) => kind === 'kill_worker' && proc === holder?.op.proc,
    );
    if (kill === undefined) return [];
    const { startNs, endNs } = next.op;
    return [{ ms: (endNs - kill.ns) / 1e6, uncertainMs: (endNs - startNs) / 1e6 }];
  });
}
