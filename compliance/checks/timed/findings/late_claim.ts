/** A claim at the end of a long transaction gets a whole TTL: the clock, not the transaction's start. */
import { secondsText, short } from '../../../history/finding.ts';
import type { Grant } from '../../../history/story.ts';
import type { TimedFinding } from '../findings.ts';
import { jobsOf } from './parts.ts';

export const lateClaim: TimedFinding = (digest, scenario) => {
  const grants = jobsOf(digest, scenario, 'claim_late').flatMap(({ grants: all }) =>
    all.slice(0, 1),
  );
  const wrong = grants.find((grant) => leftUs(grant) < ttlUs(grant));
  return [
    {
      is: 'assertion',
      name: 'a claim at the end of a long transaction gets a whole TTL',
      ok: wrong === undefined,
      ...(wrong !== undefined && {
        expected: `a lease of ${secondsText(ttlUs(wrong))} from the moment of the claim`,
        seen: `job ${short(wrong.job)} was leased for ${secondsText(leftUs(wrong))}`,
      }),
    },
    { is: 'count', name: 'late_claims', value: grants.length },
    ...grants.slice(0, 1).map((grant) => ({
      is: 'measure' as const,
      name: 'lease left when the claim began',
      value: Math.round(leftUs(grant) / 1000),
      unit: 'ms' as const,
      uncertainty: Math.ceil((grant.op.atUs - grant.op.fromUs) / 1000),
    })),
  ];
};

/** The clock was read before the claim, so a whole TTL ends no earlier than this plus the TTL. */
function leftUs({ untilUs, op }: Grant): number {
  return untilUs - op.fromUs;
}

function ttlUs({ op }: Grant): number {
  return 1e6 * (op.ttlSeconds ?? 0);
}
