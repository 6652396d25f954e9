/**
 * What must come of a lease call, by the table of answers alone. Pure: it knows the job's steps and
 * what the file says of its state, and nothing of the SQL.
 */
import type { Json } from '../json.ts';
import type { Grant } from '../steps.ts';
import type { AnswersFile, JobPlan, Rule, Transition } from './schema.ts';

/** The token that a call brings. `claim` counts the job's claims from 1. */
export type Token = { is: 'missing' | 'foreign' | 'unknown' } | { is: 'claim'; claim: number };

export type Call = {
  function: string;
  token: Token;
  plan: Pick<JobPlan, 'status' | 'expired' | 'at_maximum' | 'at_longest_hold'>;
  grants: readonly Grant[];
};

export type Decision =
  | { is: 'refused'; reason: string; argument?: string }
  | { is: 'already_applied'; claim: number }
  | { is: 'transition'; transition: Transition };

type When = Rule['when'];

/** @throws Error when the table has no answer for a call that must be answered. */
export function decide(call: Call, table: AnswersFile): Decision {
  const rule = table.precedence.find(({ when }) => speaksOf(when, call));
  if (rule?.already_applied) {
    if (call.token.is !== 'claim') throw new Error('only a claim can have been ended');
    return { is: 'already_applied', claim: call.token.claim };
  }
  if (rule?.refused !== undefined) {
    const { refused: reason, argument } = rule;
    return { is: 'refused', reason, ...(argument === undefined ? {} : { argument }) };
  }
  const transition = table.transitions.find(({ when }) => speaksOf(when, call));
  if (transition) return { is: 'transition', transition };
  throw new Error(
    `the table has no answer for ${call.function} on a job that is ${call.plan.status}`,
  );
}

/** Whether everything that a rule names is true of the call. */
export function speaksOf(when: When, call: Call): boolean {
  const { plan } = call;
  return (
    among(when.function, call.function) &&
    among(when.status, plan.status) &&
    (when.token === undefined || tokenTests[when.token](call)) &&
    (when.expired === undefined || when.expired === plan.expired) &&
    (when.at_maximum === undefined || when.at_maximum === plan.at_maximum) &&
    (when.at_longest_hold === undefined || when.at_longest_hold === plan.at_longest_hold)
  );
}

function among(wanted: string | readonly string[] | undefined, value: string): boolean {
  return (
    wanted === undefined || (typeof wanted === 'string' ? wanted === value : wanted.includes(value))
  );
}

const tokenTests: Readonly<Record<NonNullable<When['token']>, (call: Call) => boolean>> = {
  missing: ({ token }) => token.is === 'missing',
  of_the_lease_that_this_function_ended_last: (call) => {
    if (call.token.is !== 'claim' || call.token.claim !== lastEnded(call.grants)) return false;
    return call.grants[call.token.claim - 1]?.endedBy === call.function;
  },
  not_the_one_held: ({ token, grants }) =>
    token.is !== 'claim' || grants[token.claim - 1]?.endedBy !== undefined,
};

/** The latest claim whose lease was ended by a call; 0 when none was. */
export function lastEnded(grants: readonly Grant[]): number {
  return grants.findLastIndex(({ endedBy }) => endedBy !== undefined) + 1;
}

/** The facts that are not known before the job is there. */
export type Facts = { jobId: string; attempts: number; maximum: number; outcome: Json };

/** What a trial of the call must show (see `seenOf` in run.ts for the same shape). */
export function expectationOf(call: Call, decision: Decision, facts: Facts): Json {
  const nothing = { changed: [], elsewhere: [] };
  switch (decision.is) {
    case 'refused': {
      const { reason, argument } = decision;
      return {
        answer: { refused: true, reason, ...(argument === undefined ? {} : { argument }) },
        ...nothing,
        audit: [{ command: call.function, text: `refused ${reason}` }],
      };
    }
    case 'already_applied':
      return {
        answer: { only: { ...(facts.outcome as object), already_applied: true } },
        ...nothing,
        audit: [],
      };
    case 'transition':
      return transitionExpectation(call, decision.transition, facts);
  }
}

function transitionExpectation(call: Call, transition: Transition, facts: Facts): Json {
  const { to, answers_with: key, audit, changes, mirror, event } = transition;
  const attempts =
    transition.attempts === 'maximum' ? Math.max(facts.attempts, facts.maximum) : facts.attempts;
  const dead = to === 'dead_letter';
  return {
    answer: {
      only: {
        refused: false,
        job_id: facts.jobId,
        status_from: call.plan.status,
        status_to: to,
        attempts,
        ...(key === 'nothing_more'
          ? {}
          : { [key]: { any: key === 'dead_letter_id' ? 'uuid' : 'time' } }),
      },
    },
    changed: changes,
    elsewhere: [],
    audit: audit.map((text) => ({ command: call.function, text })),
    row: { status: to, attempts, answered: true, mirror },
    letters: dead ? [facts.attempts] : [],
    events: event === undefined ? [] : [event],
  };
}
