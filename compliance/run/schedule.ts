/** Runs many things side by side: longest first, in lanes of so many slots. Knows nothing of checks. */

export type Scheduled<T> = {
  items: readonly T[];
  /** How many run at once in a lane. */
  jobs: number;
  /** Items that mostly wait get a lane of their own, so they hold no working slot. */
  waits(item: T): boolean;
  /** The longer, the earlier it starts. */
  weight(item: T): number;
  run(item: T): Promise<void>;
  /** Once aborted, nothing further starts; what runs is awaited. */
  signal: AbortSignal;
};

/**
 * Resolves when every item has ended. With one job, one thing runs at a time in all. If a run
 * throws, nothing further starts, what runs is awaited, and the first error is thrown.
 */
export async function schedule<T>(work: Scheduled<T>): Promise<void> {
  const queue = work.items.toSorted((a, b) => work.weight(b) - work.weight(a));
  const lanes =
    work.jobs === 1
      ? [queue]
      : [queue.filter((item) => work.waits(item)), queue.filter((item) => !work.waits(item))];
  const thrown: unknown[] = [];

  const slot = async (lane: T[]): Promise<void> => {
    for (;;) {
      if (work.signal.aborted || thrown.length > 0) return;
      const item = lane.shift();
      if (item === undefined) return;
      try {
        await work.run(item);
      } catch (error) {
        thrown.push(error);
      }
    }
  };
  await Promise.all(lanes.flatMap((lane) => Array.from({ length: work.jobs }, () => slot(lane))));
  if (thrown.length > 0) throw thrown[0];
}
