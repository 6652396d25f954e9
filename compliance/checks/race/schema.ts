/** The form of `selftest/races/*.yaml`. What a key means is said once, here. */
import { z } from 'zod';

const name = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/, 'names are lower-case letters, digits and underscores');
const sql = z.string().min(1);
const seconds = z.number().positive();
const json = z.json();

const capture = z
  .record(name, z.string().min(1))
  .optional()
  .describe('Variable → column of the first row, or dotted path into a JSON answer.');

export const setupStep = z.union([
  z.strictObject({ sql, capture }),
  z.strictObject({
    shift_seconds: seconds.describe('Moves every timestamp of every row into the past.'),
  }),
  z.strictObject({ advance_seconds: seconds.describe('Moves the steered clock ahead.') }),
]);

const step = z.strictObject({
  name,
  sql: sql.optional(),
  advance_seconds: seconds.optional(),
  capture,
  raises: z
    .array(z.string().regex(/^[0-9A-Z]{5}$/, 'an SQLSTATE has five digits or capitals'))
    .optional()
    .describe('SQLSTATEs that may come instead of an answer.'),
});

const session = z.strictObject({
  role: z.string().min(1).optional(),
  transaction: z
    .enum(['none', 'commit', 'rollback'])
    .default('none')
    .describe('Begins with the first step; a last step, <session>.commit or .rollback, ends it.'),
  steps: z.array(step).min(1),
});

const assertion = z.strictObject({
  name: z.string().min(1),
  check: z
    .string()
    .min(1)
    .optional()
    .describe('The check it belongs to; every check of the file if unset.'),
  when: z
    .array(z.string().min(1))
    .default([])
    .describe('Only orders in which these steps begin one after another; every order if empty.'),
  must_block: z.array(z.string()).min(1).optional(),
  must_not_block: z.array(z.string()).min(1).optional(),
  answers: z.record(z.string(), json).optional().describe('Step → what its answer must contain.'),
  be_true: sql.optional().describe('A query whose one value must be true after the order.'),
});

export const scenarioFile = z.strictObject({
  title: z.string().min(1),
  clock: z.enum(['real', 'steered']).default('real'),
  variables: z.record(name, z.union([z.string(), z.number(), z.boolean()])).default({}),
  cases: z
    .record(name, z.record(name, z.string()))
    .default({})
    .describe('Case → texts for the {{blanks}} of the scenario, which then runs once a case.'),
  setup: z.array(setupStep).default([]),
  sessions: z.record(name, session),
  assertions: z.array(assertion).default([]),
  orders: z
    .union([z.literal('all'), z.array(z.string().min(1)).min(1)])
    .default('all')
    .describe('Every order, or those named: the sessions as they move, "a b a".'),
  cap: z.int().positive().default(1000).describe('More orders than this are sampled by the seed.'),
  sample: z
    .int()
    .min(2)
    .optional()
    .describe('How many orders are enough for a profile that is not exhaustive.'),
  preemptions: z.int().nonnegative().optional().describe('How often a session may be set aside.'),
  limit_ms: z
    .int()
    .positive()
    .default(10_000)
    .describe('How long a step may neither end nor wait.'),
});
export type ScenarioFile = z.infer<typeof scenarioFile>;

export const invariantsFile = z.strictObject({
  invariants: z
    .array(z.strictObject({ name: z.string().min(1), sql: sql.describe('Must return no row.') }))
    .min(1),
});
