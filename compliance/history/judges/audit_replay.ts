/** Audit replay: replaying the audit rows of a job must give its final status and attempts. */
import { finding, linesOf, short, type Fault, type HistoryJudge } from '../finding.ts';

export const auditReplay: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  const counts = { audit_rows: 0, rebuilt_jobs: 0 };
  for (const { job, row, audits } of digest.jobs.values()) {
    counts.audit_rows += audits.length;
    if (row === null) continue;
    const last = audits.findLast(({ refused, to }) => !refused && to !== null);
    if (last?.to === row.status && last.attempt === row.attempts) {
      counts.rebuilt_jobs += 1;
      continue;
    }
    const replayed =
      last === undefined ? 'nothing' : `${last.to ?? ''} after ${last.attempt ?? 0} attempts`;
    const says =
      `job ${short(job)} ends ${row.status} after ${row.attempts} attempts; ` +
      `replaying its audit gives ${replayed}`;
    faults.push({ says, job, lines: linesOf(last?.line, row.line) });
  }
  const nothing = counts.audit_rows === 0 ? ['no audit row was read'] : [];
  return finding('audit-replay', faults, counts, nothing);
};
