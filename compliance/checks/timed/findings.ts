/**
 * What a timed run shows beyond the judges of its history: measured times against their bounds. Pure
 * functions of the history. Where our own sweep or worker was late, nothing can be told: unknown,
 * never failed (clauses.md, §8.3).
 */
import type { Digest } from '../../history/story.ts';
import type { Observation } from '../../types.ts';
import { expiryToReap } from './findings/expiry_to_reap.ts';
import { killToGrant } from './findings/kill_to_grant.ts';
import { lostReaper } from './findings/lost_reaper.ts';
import { renewing } from './findings/renewing.ts';
import { crashLoop } from './findings/crash_loop.ts';
import { lateClaim } from './findings/late_claim.ts';
import { twoTtls } from './findings/two_ttls.ts';
import type { TimedFindingName } from './names.ts';
import type { TimedScenario } from './scenario.ts';

/** Each makes exactly one assertion, with the measures, counts and doubts that go with it. */
export type TimedFinding = (digest: Digest, scenario: TimedScenario) => Observation[];

export const timedFindings: Readonly<Record<TimedFindingName, TimedFinding>> = {
  'expiry-to-reap': expiryToReap,
  'kill-to-grant': killToGrant,
  renewing,
  'two-ttls': twoTtls,
  'late-claim': lateClaim,
  'crash-loop': crashLoop,
  'lost-reaper': lostReaper,
};
