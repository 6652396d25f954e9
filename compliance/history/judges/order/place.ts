/** A job's place in the queue: priority descending, then oldest, then by id (contract §4). */
import type { Us } from '../../calls.ts';

export type Place = { priority: number; enqueuedUs: Us; job: string };

/** Whether the first is better placed than the second. */
export function before(a: Place, b: Place): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.enqueuedUs !== b.enqueuedUs) return a.enqueuedUs < b.enqueuedUs;
  return a.job < b.job;
}
