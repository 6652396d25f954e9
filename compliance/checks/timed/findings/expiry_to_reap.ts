/**
 * The jobs of killed workers are reaped after their leases have ended, within the cadence and the
 * tolerance. A reap that waited for a sweep of ours that came late says nothing about the queue.
 */
import { short } from '../../../history/finding.ts';
import type { TimedFinding } from '../findings.ts';
import { jobsOf, ms, reapsOf } from './parts.ts';

export const expiryToReap: TimedFinding = (digest, scenario) => {
  const { tolerance_ms: toleranceMs, reaper } = scenario;
  const withinMs = (reaper?.every_ms ?? 0) + toleranceMs;
  const reaps = reapsOf(digest, jobsOf(digest, scenario, 'die'));
  const swept = reaps.filter(({ sweepMs }) => sweepMs !== null && sweepMs <= withinMs);
  const late = swept.find(({ lateMs }) => lateMs > withinMs);
  const early = reaps.find(({ lateMs }) => lateMs < 0);
  const wrong = [early, late].filter((one) => one !== undefined);
  const name = `a killed worker's job is reaped after its lease has ended, within ${ms(withinMs)}`;
  return [
    {
      is: 'assertion',
      name,
      ok: wrong.length === 0,
      ...(wrong.length > 0 && {
        seen: wrong
          .map(
            ({ story, lateMs }) =>
              `job ${short(story.job)} was reaped ${ms(lateMs)} after its lease had ended`,
          )
          .join('; '),
      }),
    },
    { is: 'count', name: 'kills_reaped', value: swept.length },
    ...(swept.length === 0
      ? []
      : [
          {
            is: 'measure' as const,
            name: 'from expiry to reaped, longest',
            value: Math.round(Math.max(...swept.map(({ lateMs }) => lateMs))),
            unit: 'ms' as const,
            bound: [0, withinMs] as const,
            // The moment is read by a trigger at the end of the reaper's statement.
            uncertainty: 5,
          },
        ]),
    ...(swept.length < reaps.length
      ? [
          {
            is: 'undecidable' as const,
            name: 'late sweeps',
            because: `our sweep began more than ${ms(withinMs)} after ${reaps.length - swept.length} leases had ended`,
          },
        ]
      : []),
  ];
};
