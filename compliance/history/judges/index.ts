/** The judges by name: one pure function for each finding of clauses.md. */
import type { Finding, HistoryJudge, JudgeName } from '../finding.ts';
import { judgeNames } from '../finding.ts';
import type { Digest } from '../story.ts';
import { auditGap } from './audit_gap.ts';
import { auditReplay } from './audit_replay.ts';
import { blockedClaim } from './blocked_claim.ts';
import { doubleEnqueue } from './double_enqueue.ts';
import { doubleHold } from './double_hold.ts';
import { doubleTerminal } from './double_terminal.ts';
import { earlyReap } from './early_reap.ts';
import { lateReap } from './late_reap.ts';
import { lost } from './lost.ts';
import { order } from './order.ts';
import { overRun } from './over_run.ts';
import { rawError } from './raw_error.ts';
import { silentReap } from './silent_reap.ts';
import { staleWrite } from './stale_write.ts';
import { tokenReuse } from './token_reuse.ts';
import { unexpected } from './unexpected.ts';

export const judges: Readonly<Record<JudgeName, HistoryJudge>> = {
  'double-hold': doubleHold,
  lost,
  unexpected,
  'early-reap': earlyReap,
  'late-reap': lateReap,
  'stale-write': staleWrite,
  'token-reuse': tokenReuse,
  'over-run': overRun,
  'double-terminal': doubleTerminal,
  order,
  'blocked-claim': blockedClaim,
  'audit-gap': auditGap,
  'audit-replay': auditReplay,
  'silent-reap': silentReap,
  'double-enqueue': doubleEnqueue,
  'raw-error': rawError,
};

/**
 * What the named judges find. A recording that is itself unsound makes every finding undecidable:
 * a fault seen in it stands, a green does not.
 */
export function judgeDigest(digest: Digest, names: readonly JudgeName[] = judgeNames): Finding[] {
  return names.map((name) => {
    const finding = judges[name](digest);
    return { ...finding, undecidable: [...digest.malformed, ...finding.undecidable] };
  });
}
