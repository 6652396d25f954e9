/**
 * Over-run: more grants than the maximum, or dead before the maximum without a permanent failure.
 * A replay begins a new generation with its full budget. The configuration stands still in a run,
 * so the maximum is the header's.
 */
import { finding, linesOf, short, type Fault, type HistoryJudge } from '../finding.ts';
import { leasesOf, lineOf, type Lease } from '../leases.ts';
import type { Change, Header } from '../events.ts';
import type { At, Digest, JobStory } from '../story.ts';

export const overRun: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  const undecidable: string[] = [];
  const counts = { grants: 0, exhausted: 0, redeliveries: 0 };
  for (const story of digest.jobs.values()) {
    const kind = story.row?.kind ?? story.grants[0]?.kind;
    if (kind === undefined) continue;
    const most = maximumOf(digest.header, kind);
    for (const leases of generations(story)) {
      counts.grants += leases.length;
      counts.redeliveries += Math.max(0, leases.length - 1);
      const beyond = leases[most];
      if (beyond !== undefined) faults.push(tooOften(story.job, leases.slice(0, most + 1), most));
    }
    const death = earlyDeath(digest, story, most);
    if (typeof death === 'string') undecidable.push(death);
    else if (death !== undefined) faults.push(death);
    if (story.row?.status === 'dead_letter') counts.exhausted += 1;
  }
  if (counts.grants === 0) undecidable.push('nothing was granted');
  return finding('over-run', faults, counts, undecidable);
};

/** The maximum number of runs of a kind. */
export function maximumOf({ config }: Header, kind: string): number {
  return config.maxAttempts.byKind[kind] ?? config.maxAttempts.default;
}

/** The leases between one replay and the next. */
function generations(story: JobStory): Lease[][] {
  const replays = story.calls.filter(({ f, end }) => f === 'replay' && end === 'ok');
  const parts: Lease[][] = [[]];
  for (const lease of leasesOf(story)) {
    while (replays[0] !== undefined && replays[0].fromUs < lease.beganUs) {
      replays.shift();
      parts.push([]);
    }
    parts.at(-1)?.push(lease);
  }
  return parts;
}

function tooOften(job: string, leases: readonly Lease[], most: number): Fault {
  const says = `job ${short(job)} was granted ${leases.length} times; its maximum is ${most}`;
  return { says, job, lines: linesOf(...leases.map(lineOf)) };
}

/** A fault, or why it cannot be told, or undefined when the death was due. */
function earlyDeath(digest: Digest, story: JobStory, most: number): Fault | string | undefined {
  const death = deathOf(story);
  if (death === undefined) return undefined;
  const permanent = story.calls.some(({ f, end }) => f === 'fail_permanent' && end !== 'fail');
  if (permanent || death.by === 'fn_job_fail_permanent') return undefined;
  const leases = generations(story).at(-1) ?? [];
  if (leases.length >= most) return undefined;
  const unknown = digest.claims.some(({ end }) => end === 'info');
  if (!digest.logged && unknown)
    return `job ${short(story.job)} died after ${leases.length} known grants, and claims are unknown`;
  const says =
    `job ${short(story.job)} died after ${leases.length} of ${most} grants, ` +
    'and no one had failed it for good';
  return { says, job: story.job, lines: linesOf(...leases.map(lineOf), death.line) };
}

function deathOf({ changes, row }: JobStory): { by: string; line: number } | undefined {
  const change: At<Change> | undefined = changes.findLast(({ to }) => to === 'dead_letter');
  if (change !== undefined) return change;
  return row?.status === 'dead_letter' ? { by: '', line: row.line } : undefined;
}
