/** Token reuse: one token granted twice, to one job or to two. */
import { finding, linesOf, short, type Fault, type HistoryJudge } from '../finding.ts';

export const tokenReuse: HistoryJudge = (digest) => {
  const faults: Fault[] = [];
  const first = new Map<string, { job: string; line: number }>();
  let grants = 0;
  const see = (token: string, job: string, line: number): void => {
    grants += 1;
    const before = first.get(token);
    if (before === undefined) {
      first.set(token, { job, line });
      return;
    }
    const says = `token ${short(token)} was granted to job ${short(before.job)}, then to job ${short(job)}`;
    faults.push({ says, job, lines: linesOf(before.line, line) });
  };
  for (const { grants: given, endLine } of digest.claims)
    for (const { token, job } of given) see(token, job, endLine);

  // What the answers did not show: a token that the row took on again, in the row log.
  for (const { job, changes } of digest.jobs.values()) {
    const taken = new Map<string, number>();
    for (const { token, tokenWas, line } of changes) {
      if (token === null || token === tokenWas) continue;
      const before = taken.get(token);
      if (before !== undefined)
        faults.push({
          says: `job ${short(job)} was leased under token ${short(token)} a second time`,
          job,
          lines: linesOf(before, line),
        });
      taken.set(token, line);
    }
  }
  return finding('token-reuse', faults, { grants }, grants === 0 ? ['nothing was granted'] : []);
};
