/** A session that moves from step to step, one statement a move. */
import type { Session } from '../../types.ts';
import { ask, captured, type Answer } from './answer.ts';
import type { Performer } from './play.ts';
import { stepNames, type SessionPlan, type Step } from './scenario.ts';
import type { Variables } from './variables.ts';
import { known } from './known.ts';

/** What one order has learnt so far; sessions read each other's captures. */
export type Memory = { variables: Variables; answers: Map<string, Answer> };

/**
 * Does the steps of a plan. A transaction begins with its first step. After an error inside a
 * transaction the steps up to its end are skipped, as the server would refuse them.
 */
export function stepByStep(plan: SessionPlan, session: Session, memory: Memory): Performer {
  const names = stepNames(plan);
  let next = 0;
  return {
    name: plan.name,
    upcoming() {
      const step = names[next];
      if (step === undefined) return undefined;
      return { step, label: step, skips: skipsLocked(plan.steps[next]), alone: false };
    },
    async move() {
      const name = known(names[next], 'a next step');
      const step = plan.steps[next];
      const first = next === 0;
      next += 1;
      if (first && plan.transaction !== 'none') await session.client.query('begin');
      const answer = await answerOf(step, plan, session, memory);
      memory.answers.set(name, answer);
      return { answer };
    },
  };
}

/** Calls that pass over a locked row instead of waiting for it (contract §4). */
const SKIPS_LOCKED = /\bfn_job_(?:claim|claim_batch|lease_reaper|promote_due)\b/;

export function skipsLocked(step: Step | undefined): boolean {
  return step !== undefined && SKIPS_LOCKED.test(step.sql);
}

/** Runs one step, or the end of the transaction where there is no step any more. */
export async function answerOf(
  step: Step | undefined,
  plan: SessionPlan,
  session: Session,
  memory: Memory,
): Promise<Answer> {
  if (step === undefined) return ask(session, plan.transaction, {});
  const failed = plan.steps.some(({ name }) => memory.answers.get(name)?.is === 'error');
  if (failed && plan.transaction !== 'none') return { is: 'skipped' };
  const answer = await ask(session, step.sql, memory.variables);
  memory.variables = { ...memory.variables, ...captured(answer, step.capture) };
  return answer;
}
