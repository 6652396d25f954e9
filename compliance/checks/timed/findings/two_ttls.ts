/** Leases with different TTLs, side by side: each ends at its own time. */
import { leasesOf } from '../../../history/leases.ts';
import { secondsText, short } from '../../../history/finding.ts';
import type { TimedFinding } from '../findings.ts';
import { jobsOf, reapsOf } from './parts.ts';

export const twoTtls: TimedFinding = (digest, scenario) => {
  const staying = new Set(scenario.jobs.filter(({ stays }) => stays).map(({ kind }) => kind));
  const victims = jobsOf(digest, scenario, 'die');
  const long = victims.filter(({ row }) => row !== null && staying.has(row.kind));
  const short_ = victims.filter((story) => !long.includes(story));
  const kept = long.filter(({ row }) => row !== null && row.untilUs !== null);
  const wrong = long.find((story) =>
    leasesOf(story).some(({ ended, untilUs }) => ended !== null && ended.atUs < untilUs),
  );
  const leftUs =
    wrong === undefined
      ? 0
      : (leasesOf(wrong)[0]?.untilUs ?? 0) - (leasesOf(wrong)[0]?.ended?.atUs ?? 0);
  return [
    {
      is: 'assertion',
      name: 'a long lease is kept while short ones beside it are reaped',
      ok: wrong === undefined,
      ...(wrong !== undefined && {
        seen: `job ${short(wrong.job)} lost its lease ${secondsText(leftUs)} too early`,
      }),
    },
    { is: 'count', name: 'short_reaped', value: reapsOf(digest, short_).length },
    { is: 'count', name: 'long_kept', value: kept.length },
  ];
};
