/** The findings of timed runs by name, apart from the code, so that the manifest can check them. */
export const timedFindingNames = [
  'expiry-to-reap',
  'kill-to-grant',
  'renewing',
  'two-ttls',
  'late-claim',
  'crash-loop',
  'lost-reaper',
] as const;
export type TimedFindingName = (typeof timedFindingNames)[number];
