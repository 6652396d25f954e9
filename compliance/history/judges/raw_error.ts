/**
 * Raw error: a call raised an SQLSTATE of the server, a deadlock for example, where the contract has
 * a coded refusal or the documented effect (§8.5).
 */
import { finding, linesOf, short, type Fault, type HistoryJudge } from '../finding.ts';

/** Five letters or digits; refusals' codes are lower-case words. */
const sqlState = /^[0-9A-Z]{5}$/;

export const rawError: HistoryJudge = ({ ops }) => {
  const faults = ops
    .filter(({ end, reason }) => end === 'fail' && reason !== null && sqlState.test(reason))
    .map(({ f, id, reason, job, line, endLine }): Fault => {
      const on = job === null ? '' : ` on job ${short(job)}`;
      return { says: `${f} ${id}${on} raised ${reason ?? ''}`, job, lines: linesOf(line, endLine) };
    });
  return finding(
    'raw-error',
    faults,
    { calls: ops.length },
    ops.length === 0 ? ['nothing was called'] : [],
  );
};
