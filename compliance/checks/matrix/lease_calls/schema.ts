/** The form of a matrix of lease calls: job × function × token, and the table that answers it. */
import { z } from 'zod';
import { stepsSchema } from '../steps.ts';

const status = z.enum([
  'none',
  'queued',
  'leased',
  'in_progress',
  'retry_waiting',
  'succeeded',
  'dead_letter',
  'cleaned',
]);
const oneOrMore = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1)]);
const fnName = z.string().regex(/^fn_job_[a-z_]+$/, 'a function of the contract, fn_job_…');

export const leaseCallsFile = z.strictObject({
  matrix: z.literal('lease_calls'),
  clause: z.string().min(1).describe('The clause that the names of the cells begin with.'),
  title: z.string().min(1),
  answers: z.string().min(1).describe('The file with the table of answers.'),
  tokens: z
    .array(z.enum(['each_claim', 'each_ended_claim', 'missing', 'foreign', 'unknown']))
    .min(1)
    .describe('The tokens that each function is called with on each job.'),
  begun: z.array(stepsSchema).optional().describe('Common beginnings, to be named with an anchor.'),
  jobs: z.record(
    z.string().regex(/^[a-z][a-z0-9_]*$/, 'a job is named like a kind: a_job_that_waits'),
    z.strictObject({
      steps: stepsSchema,
      status: status.describe('The state that the steps lead to; none: there is no such job.'),
      settings: z
        .record(z.string(), z.string())
        .default({})
        .describe('Configuration that is set before the first step.'),
      expired: z.boolean().default(false).describe('Its lease has run out, and nobody reaped it.'),
      at_maximum: z.boolean().default(false).describe('Its attempts are used up.'),
      at_longest_hold: z.boolean().default(false).describe('No renewal may extend its lease.'),
    }),
  ),
});
export type LeaseCallsFile = z.infer<typeof leaseCallsFile>;
export type JobPlan = LeaseCallsFile['jobs'][string];

/** What is true of a call. A rule speaks of the calls for which all that it names is true. */
const when = {
  function: oneOrMore(fnName).optional(),
  status: oneOrMore(status).optional(),
  token: z
    .enum(['missing', 'of_the_lease_that_this_function_ended_last', 'not_the_one_held'])
    .optional(),
  expired: z.boolean().optional(),
  at_maximum: z.boolean().optional(),
  at_longest_hold: z.boolean().optional(),
};

const rule = z.strictObject({
  when: z.strictObject(when),
  refused: z.string().optional().describe('The reason of the refusal.'),
  argument: z.string().optional().describe('The argument that an invalid_argument names.'),
  already_applied: z.literal(true).optional().describe('The first answer again, and so marked.'),
});
export type Rule = z.infer<typeof rule>;

const transition = z.strictObject({
  when: z.strictObject(when),
  to: status,
  answers_with: z
    .enum(['leased_until', 'process_after', 'dead_letter_id', 'nothing_more'])
    .describe('The key beside refused, job_id, status_from, status_to and attempts.'),
  attempts: z.enum(['kept', 'maximum']).describe('kept, or raised to the maximum of the kind.'),
  audit: z.array(z.string()).describe('The audit rows, from>to.'),
  changes: z.array(z.string()).describe('Tables in which a row about the job changes.'),
  mirror: z.enum(['in_step', 'gone']).describe('The row in dot_iu_runtime_lease afterwards.'),
  event: z.string().optional().describe('The event that is emitted.'),
});
export type Transition = z.infer<typeof transition>;

export const answersFile = z.strictObject({
  title: z.string().min(1),
  functions: z
    .record(fnName, z.array(z.string()))
    .describe('Each lease function → its arguments after job and token, as SQL.'),
  maximum: z.int().describe('Maximum of attempts where a job sets none.'),
  precedence: z.array(rule).min(1).describe('The first rule that speaks of a call decides it.'),
  transitions: z.array(transition).min(1).describe('Of the calls that no rule refuses, likewise.'),
});
export type AnswersFile = z.infer<typeof answersFile>;
