/** What a run tells while it goes on. Reporters listen; nothing here decides anything. */
import type { CheckResult, ClauseResult, Task } from '../types.ts';
import type { SelectedClause } from './select.ts';

export type RunEvent =
  /** What is about to be judged; always the first event. */
  | { is: 'selected'; clauses: readonly SelectedClause[] }
  /** A step of the set-up, as people would say it: `starting embedded:17`. */
  | { is: 'phase'; text: string }
  /** The server is up and the template built; tasks begin. */
  | { is: 'ready'; versionNum: number }
  | { is: 'task_started'; task: Task }
  | { is: 'progress'; task: Task; text: string }
  | { is: 'check_done'; result: CheckResult }
  | { is: 'clause_done'; result: ClauseResult };

export type OnEvent = (event: RunEvent) => void;

/** Where time went: from and to, in milliseconds since the run began. */
export type Span = { what: string; fromMs: number; toMs: number };
