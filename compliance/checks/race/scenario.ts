/**
 * What a race is: sessions that each do their steps in order, and what must hold in every order in
 * which those steps can be taken. Types only; `load.ts` reads them from `selftest/races/*.yaml`.
 */
import type { Where } from '../../types.ts';
import type { Json, Variables } from './variables.ts';

/** One statement, and what to remember of its answer: variable → column, or dotted path into JSON. */
export type Statement = { sql: string; capture: Readonly<Record<string, string>>; at: Where };

/** Something done before an order begins; each order begins in the same state. */
export type SetupStep = Statement | { shiftSeconds: number } | { advanceSeconds: number };

/** One step of a session; its name is unique in the scenario. */
export type Step = Statement & {
  name: string;
  /** SQLSTATEs that may come instead of an answer; any other is a fault. */
  raises: readonly string[];
};

/**
 * `none`: each step is a transaction of its own. Otherwise the transaction begins with the first
 * step, and the last step, `<session>.commit` or `<session>.rollback`, ends it.
 */
export type Ending = 'none' | 'commit' | 'rollback';

export type SessionPlan = {
  name: string;
  role?: string;
  transaction: Ending;
  steps: readonly Step[];
};

/** Something that must hold in every order in which the steps of `when` start one after another. */
export type Assertion = {
  name: string;
  /** The check that it belongs to; every check of the file where unset. */
  check?: string;
  at: Where;
  when: readonly string[];
} & (
  | { must: 'block' | 'not_block'; steps: readonly string[] }
  /** Step → what its answer must contain; a list must have exactly those rows. */
  | { must: 'answer'; answers: Readonly<Record<string, Json>> }
  /** A query whose one value must be true. */
  | { must: 'be_true'; sql: string }
);

/** Something that must hold after every order of every scenario: a query that returns no row. */
export type Invariant = { name: string; sql: string; at: Where };

/** One case of a scenario: nothing left to fill in. */
export type Scenario = {
  /** Empty when the file has no cases. */
  case: string;
  title: string;
  at: Where;
  clock: 'real' | 'steered';
  variables: Variables;
  setup: readonly SetupStep[];
  sessions: readonly SessionPlan[];
  assertions: readonly Assertion[];
  /** Orders by name, as a trace prints them; every order where unset. */
  orders?: readonly (readonly string[])[];
  /** The same, where samples are not taken whole; at most `cap`. */
  sample?: number;
  /** How many orders at most; above it they are sampled by the seed. */
  cap: number;
  preemptions?: number;
  /** How long a step may run without either ending or waiting for another session. */
  limitMs: number;
};

/** Names of all steps of a session in order, its ending included. */
export function stepNames({ name, transaction, steps }: SessionPlan): string[] {
  const names = steps.map((step) => step.name);
  return transaction === 'none' ? names : [...names, `${name}.${transaction}`];
}

export function isStatement(step: SetupStep): step is Statement {
  return 'sql' in step;
}
