/**
 * The jobs that are certainly ready, best placed first: a binary heap that drops what is over when
 * it comes to the top. Claims must be asked in the order of their start.
 */
import type { Ns } from '../../calls.ts';
import { before } from './place.ts';
import type { Segment } from './segments.ts';

export type ReadyQueue = {
  add(segment: Segment): void;
  /** The best-placed job that was ready during all of `[startNs, endNs]`. */
  best(startNs: Ns, endNs: Ns): Segment | undefined;
};

/** An empty queue. */
export function readyQueue(): ReadyQueue {
  const heap: Segment[] = [];
  const better = (a: number, b: number): boolean => {
    const [x, y] = [heap[a], heap[b]];
    return x !== undefined && y !== undefined && before(x.place, y.place);
  };
  const swap = (a: number, b: number): void => {
    const [x, y] = [heap[a], heap[b]];
    if (x !== undefined && y !== undefined) [heap[a], heap[b]] = [y, x];
  };

  const add = (segment: Segment): void => {
    heap.push(segment);
    for (let at = heap.length - 1; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!better(at, parent)) break;
      swap(at, parent);
      at = parent;
    }
  };

  const take = (): void => {
    swap(0, heap.length - 1);
    heap.pop();
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let top = at;
      if (better(left, top)) top = left;
      if (better(right, top)) top = right;
      if (top === at) break;
      swap(at, top);
      at = top;
    }
  };

  const best = (startNs: Ns, endNs: Ns): Segment | undefined => {
    // What an overlapping call touches is set aside; at most one job for each such call.
    const aside: Segment[] = [];
    let found: Segment | undefined;
    for (let top = heap[0]; top !== undefined; top = heap[0]) {
      if (top.untilNs > endNs) {
        found = top;
        break;
      }
      take();
      if (top.untilNs > startNs) aside.push(top);
    }
    aside.forEach(add);
    return found;
  };
  return { add, best };
}
