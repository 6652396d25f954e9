/**
 * Audit gap: a transition without its audit row, or the reverse. Each change of a row equals the
 * composition of one or more audit rows, every one of them a documented step; each refusal that a
 * caller got, and each sweep, has its record.
 */
import { finding, linesOf, short, type Fault, type HistoryJudge } from '../finding.ts';
import type { Audit } from '../events.ts';
import type { At, Digest, JobStory } from '../story.ts';

/** The documented transitions (contract §3, §4, D10); `new` is a job that is not there yet. */
const steps: ReadonlySet<string> = new Set([
  'new→queued',
  'queued→leased',
  'retry_waiting→queued',
  'leased→in_progress',
  'leased→retry_waiting',
  'leased→dead_letter',
  'in_progress→succeeded',
  'in_progress→retry_waiting',
  'in_progress→dead_letter',
  'dead_letter→queued',
  'succeeded→cleaned',
]);

export const auditGap: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  const counts = { row_changes: 0, audit_rows: 0, audited_refusals: 0 };
  for (const story of digest.jobs.values()) {
    const audits = story.audits.filter(({ refused, from, to }) => !refused && from !== to);
    counts.audit_rows += audits.length;
    counts.row_changes += story.changes.filter(({ from, to }) => from !== to).length;
    counts.audited_refusals += story.audits.length - audits.length;
    const fault = undocumented(story, audits) ?? mismatch(story, audits) ?? refusals(story);
    if (fault !== undefined) faults.push(fault);
  }
  faults.push(...unrecordedSweeps(digest));
  const undecidable = digest.logged ? [] : ['the history holds no log of row changes'];
  return finding('audit-gap', faults, counts, undecidable);
};

function step(from: string | null, to: string | null): string {
  return `${from ?? 'new'}→${to ?? 'gone'}`;
}

function undocumented({ job }: JobStory, audits: readonly At<Audit>[]): Fault | undefined {
  const odd = audits.find(({ from, to }) => !steps.has(step(from, to)));
  if (odd === undefined) return undefined;
  const says = `job ${short(job)}: the audit shows ${step(odd.from, odd.to)}, which no document knows`;
  return { says, job, lines: [odd.line] };
}

/** Walks the row's changes and the audit side by side. */
function mismatch({ job, changes }: JobStory, audits: readonly At<Audit>[]): Fault | undefined {
  if (changes.length === 0) return undefined;
  const rest = [...audits];
  for (const change of changes) {
    if (change.from === change.to) continue;
    let state = change.from;
    while (state !== change.to) {
      const next = rest.shift();
      if (next?.from !== state) {
        const says = `job ${short(job)}: ${change.by} made ${step(change.from, change.to)}, and the audit lacks it`;
        return { says, job, lines: linesOf(change.line, next?.line) };
      }
      state = next.to;
    }
  }
  const extra = rest[0];
  if (extra === undefined) return undefined;
  const says = `job ${short(job)}: the audit shows ${step(extra.from, extra.to)}, and the row never made it`;
  return { says, job, lines: linesOf(changes.at(-1)?.line, extra.line) };
}

/** A refusal whose answer was lost may have been recorded or not. */
function refusals({ job, calls, audits }: JobStory): Fault | undefined {
  const refused = calls.filter(({ end, tx }) => end === 'fail' && tx !== null);
  const unknown = calls.filter(({ end }) => end === 'info').length;
  const recorded = audits.filter((audit) => audit.refused);
  const [least, most] = [refused.length, refused.length + unknown];
  if (recorded.length >= least && recorded.length <= most) return undefined;
  const says = `job ${short(job)}: ${least} calls were refused, and the audit shows ${recorded.length} refusals`;
  const lines = linesOf(
    ...refused.map(({ endLine }) => endLine),
    ...recorded.map(({ line }) => line),
  );
  return { says, job, lines };
}

/** Each sweep that answered stands in its completion record, started while it ran. */
function unrecordedSweeps({ reaps, sweeps }: Digest): Fault[] {
  const answered = reaps.filter(({ end }) => end === 'ok');
  const missing = answered.filter(
    ({ fromUs, atUs }) => !sweeps.some(({ startedUs }) => startedUs >= fromUs && startedUs <= atUs),
  );
  return missing.map(({ id, line, endLine }) => ({
    says: `sweep ${id} answered and has no completion record`,
    job: null,
    lines: linesOf(line, endLine),
  }));
}
