/** A process that sweeps on a cadence, and may be killed with a sweep in its open transaction. */
import type { Job } from './orders.ts';
import type { Desk } from './worker_parts.ts';

/** Sweeps until it is told to stop. */
export async function sweeper(
  desk: Desk,
  { everyMs, limit, promote, killAfterSweeps }: Extract<Job, { is: 'sweep' }>,
): Promise<void> {
  const { hands } = desk;
  for (let sweeps = 0; !desk.isStopped(); sweeps += 1) {
    const began = Date.now();
    if (killAfterSweeps !== null && sweeps >= killAfterSweeps && !desk.isCalm()) {
      await hands.sweepStruck(limit, () => {
        hands.fault('kill_reaper');
        desk.report({ is: 'strike', strike: 'kill_reaper', turn: sweeps, struck: 1 });
        desk.signalSelf('SIGKILL');
      });
    }
    await hands.call('reap', { limit });
    if (promote) await hands.call('promote', { limit });
    await desk.pause(Math.max(0, began + everyMs - Date.now()));
  }
}
