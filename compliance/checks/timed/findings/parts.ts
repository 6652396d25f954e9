/** What the findings of a timed run share. */
import { leasesOf, type Lease } from '../../../history/leases.ts';
import type { Digest, JobStory, ReapOp } from '../../../history/story.ts';
import type { Actor, TimedScenario } from '../scenario.ts';
import { kindsThat } from '../scenario.ts';

/** The jobs whose worker does this, such as dying. */
export function jobsOf(digest: Digest, scenario: TimedScenario, does: Actor['does']): JobStory[] {
  const kinds = kindsThat(scenario, does);
  return [...digest.jobs.values()].filter(({ row }) => row !== null && kinds.has(row.kind));
}

/** A lease that a reaper ended: how long after its end, and whether a sweep came in time. */
export type Reaped = {
  story: JobStory;
  lease: Lease;
  /** From the end of the lease to the reap. */
  lateMs: number;
  /** From the end of the lease to the first sweep that began after it, in ms; null: none did. */
  sweepMs: number | null;
};

/** Every lease of the stories that a reaper ended after it had expired. */
export function reapsOf(digest: Digest, stories: readonly JobStory[]): Reaped[] {
  const sweeps = digest.reaps.filter(({ end }) => end === 'ok');
  return stories.flatMap((story) =>
    leasesOf(story).flatMap((lease) => {
      const { ended, untilUs } = lease;
      if (ended?.by !== 'fn_job_lease_reaper') return [];
      const lateMs = (ended.atUs - untilUs) / 1000;
      return [{ story, lease, lateMs, sweepMs: firstAfter(sweeps, untilUs) }];
    }),
  );
}

function firstAfter(sweeps: readonly ReapOp[], us: number): number | null {
  const begun = sweeps.map(({ fromUs }) => fromUs).filter((fromUs) => fromUs >= us);
  return begun.length === 0 ? null : (Math.min(...begun) - us) / 1000;
}

/** A number in ms as people read it. */
export function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
