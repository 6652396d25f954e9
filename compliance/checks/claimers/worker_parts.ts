/** What the parts of a worker process share: its means, its orders, and whether it must end. */
import type { Hands } from './hands.ts';
import type { Report } from './orders.ts';

export type Desk = {
  hands: Hands;
  seed: number;
  /** Resolves when everybody is told to go. */
  begun: Promise<void>;
  /** No more faults: finish what there is. */
  isCalm: () => boolean;
  isStopped: () => boolean;
  report: (report: Report) => void;
  /** Waits; ends early when the worker is told to stop. */
  pause: (ms: number) => Promise<void>;
  /** A signal to this very process. SIGKILL does not return; SIGSTOP returns after SIGCONT. */
  signalSelf: (signal: 'SIGKILL' | 'SIGSTOP') => void;
};
