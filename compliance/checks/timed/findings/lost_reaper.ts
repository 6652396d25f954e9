/**
 * The negative control: nobody sweeps, and the gap view and health must say so within their bound. A
 * view that is always quiet would pass every other check.
 */
import type { Alarm } from '../../../history/events.ts';
import { leasesOf } from '../../../history/leases.ts';
import type { At, Digest } from '../../../history/story.ts';
import type { TimedFinding } from '../findings.ts';
import type { TimedScenario } from '../scenario.ts';
import { jobsOf, ms } from './parts.ts';

export const lostReaper: TimedFinding = (digest, scenario) => {
  const { alarms: wanted, alarm_after_ms: afterMs, tolerance_ms: toleranceMs } = scenario;
  const causeUs = latestExpiry(digest, scenario);
  const missing = wanted.filter(
    (reason) => !digest.alarms.some((alarm) => alarm.reason === reason),
  );
  const unnamed = jobsOf(digest, scenario, 'die').filter(
    ({ job }) => !digest.alarms.some((alarm) => alarm.job === job),
  );
  const raised = digest.alarms.filter(({ reason }) => wanted.includes(reason));
  const last = raised.reduce<At<Alarm> | undefined>(
    (a, b) => (a !== undefined && a.atUs > b.atUs ? a : b),
    undefined,
  );
  const seen =
    missing.length > 0
      ? `no alarm ${missing.join(', ')}`
      : `no gap names ${unnamed.length} of the jobs`;
  return [
    {
      is: 'assertion',
      name: `without a reaper, ${wanted.join(', ')} are raised, and name the job`,
      ok: missing.length === 0 && unnamed.length === 0,
      ...(missing.length + unnamed.length > 0 && { seen }),
    },
    { is: 'count', name: 'alarms', value: raised.length },
    ...(last === undefined || causeUs === undefined
      ? []
      : [
          {
            is: 'measure' as const,
            name: `from expiry to the last alarm, due after ${ms(afterMs)}`,
            value: Math.round((last.atUs - causeUs) / 1000),
            unit: 'ms' as const,
            bound: [0, afterMs + toleranceMs] as const,
            // The view is read every 25 ms, and a read takes a few.
            uncertainty: 50,
          },
        ]),
  ];
};

function latestExpiry(digest: Digest, scenario: TimedScenario): number | undefined {
  const ends = jobsOf(digest, scenario, 'die').flatMap((story) => leasesOf(story).slice(0, 1));
  return ends.length === 0 ? undefined : Math.max(...ends.map(({ untilUs }) => untilUs));
}
