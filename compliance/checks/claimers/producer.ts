/** A process that enqueues jobs, each call as the plan says. */
import type { Job } from './orders.ts';
import type { Desk } from './worker_parts.ts';

/** Waits for the word to go, enqueues everything, then reports that it is done. */
export async function producer(
  desk: Desk,
  { steps }: Extract<Job, { is: 'produce' }>,
): Promise<void> {
  await desk.begun;
  for (const step of steps) {
    if (desk.isStopped()) return;
    // The client's clock only sets a time to come; what is judged is read from the server's.
    const nowMs = Date.now();
    const jobs = step.jobs.map(({ delayMs, ...job }) =>
      delayMs === undefined ? job : { ...job, dueUs: (nowMs + delayMs) * 1000 },
    );
    if (step.cut) desk.hands.fault('cut_after_commit');
    const { end } = await (step.cut
      ? desk.hands.callAndCut('enqueue', { jobs })
      : desk.hands.call('enqueue', { jobs }));
    // The same keys again: an enqueue whose answer was lost is safe to repeat.
    if (end === 'info') await desk.hands.call('enqueue', { jobs });
  }
  desk.report({ is: 'done' });
}
