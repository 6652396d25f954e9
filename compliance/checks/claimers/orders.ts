/** What the coordinator and a worker process say to each other, a line of JSON each. Types only. */
import type { EnqueueStep } from './plan.ts';
import type { Scenario } from './scenario.ts';
import type { TimedRole } from '../timed/roles.ts';

/** First line on a worker's standard input. */
export type Order = {
  /** Its name, with the incarnation: `w3.1`. */
  proc: string;
  /** libpq URL; reaches the worker over its standard input, never by its command line. */
  url: string;
  /** The history file of this process alone. */
  file: string;
  /** `process.hrtime.bigint()` of the run's beginning, in decimal. */
  originNs: string;
  seed: number;
  job: Job;
};
export type Job =
  | {
      is: 'claim';
      scenario: Scenario;
      worker: number;
      /** Where its plan goes on: turns done and strikes struck by earlier incarnations. */
      turn: number;
      struck: number;
    }
  | { is: 'produce'; steps: readonly EnqueueStep[] }
  | {
      is: 'sweep';
      everyMs: number;
      limit: number;
      promote: boolean;
      killAfterSweeps: number | null;
    }
  | { is: 'timed'; role: TimedRole };

/**
 * Later lines on standard input. `go`: producers begin, all at once. `calm`: no more faults, finish
 * what there is. `stop`: end.
 */
export type Command = 'go' | 'calm' | 'stop';

/** Lines on a worker's standard output. */
export type Report =
  /** Connected, with this backend. */
  | { is: 'ready'; pid: number }
  /** About to be struck, or struck; `turn` and `struck` say where its plan goes on afterwards. */
  | ({ is: 'strike'; turn: number; struck: number } & (
      | { strike: 'kill_worker' | 'kill_reaper' | 'cut_claim' | 'cut_ending' }
      /** It stops itself; the coordinator lets it go on when this lease is over. */
      | { strike: 'stop_worker'; job: string; token: string }
      /** The coordinator ends this backend while the worker's next call may run. */
      | { strike: 'terminate_backend'; pid: number }
    ))
  /** A producer has enqueued everything. */
  | { is: 'done' };
