/** The form of `selftest/property/*.yaml`. What a key means is said once, here. */
import { z } from 'zod';
import { strategies } from './delay.ts';

const sql = z.string().regex(/\S/, 'the statement is empty');
const statements = z
  .array(sql)
  .describe('Statements that build the world: they call the queue, or plant something in it.');
const runs = z.int().positive().describe('Random cases, after the hostile ones.');
const sample = z
  .int()
  .positive()
  .optional()
  .describe('How many of the hostile cases are enough for a profile that is not exhaustive.');
const name = z.string().regex(/^[a-z][a-z0-9_]*$/, 'a name of lower-case letters and underscores');
const expressions = z.array(sql).min(1).describe('SQL expressions.');

export const anyValueFile = z.strictObject({
  property: z.literal('any-value'),
  runs,
  sample,
  setup: statements,
  good: z
    .record(name, expressions)
    .describe('Argument → values that go ahead; the first is used while another is tried.'),
  hostile: z.record(z.string(), expressions).describe('Type → values that are tried first.'),
  unaudited: z.array(name).describe('Functions whose change has no audit row.'),
});
export type AnyValueFile = z.infer<typeof anyValueFile>;

export const anyJsonFile = z.strictObject({
  property: z.literal('any-json'),
  runs,
  setup: statements,
  payload: expressions.describe('Documents that are tried first as a payload, and as a batch.'),
  jobs: expressions.describe('Documents that are tried first as a batch.'),
});
export type AnyJsonFile = z.infer<typeof anyJsonFile>;

const range = z.tuple([z.int(), z.int()]);

export const backoffFile = z.strictObject({
  property: z.literal('backoff'),
  runs,
  attempts: z.array(z.int().nonnegative()).min(1).describe('Attempt counts of every case.'),
  more: z.int().positive().describe('How many random attempt counts each random case adds.'),
  most: z.int().positive().describe('The greatest attempt count.'),
  base: range.describe('What the configuration takes, in seconds.'),
  cap: range.describe('What the configuration takes, in seconds.'),
  first: z
    .array(z.strictObject({ strategy: z.enum(strategies), base: z.int(), cap: z.int() }))
    .describe('Configurations that are tried first.'),
});
export type BackoffFile = z.infer<typeof backoffFile>;

export const errorTextFile = z.strictObject({
  property: z.literal('error-text'),
  runs,
  setup: statements,
  texts: expressions.describe('Tried first, as code and as message.'),
});
export type ErrorTextFile = z.infer<typeof errorTextFile>;

const step = z.strictObject({
  as: name.optional().describe('The role that calls; the owner of the database if unset.'),
  sql,
});

export const anySessionFile = z.strictObject({
  property: z.literal('any-session'),
  runs,
  sample,
  setup: statements,
  steps: z.array(step).min(1).describe('One life: queries whose answers are compared.'),
  doings: z
    .array(
      z.strictObject({
        name: sql.describe('What was done, for people.'),
        as: name.describe('The role that does it, and whose code it is.'),
        before: sql.describe(
          'What the caller does first; its code says as whom it runs in kit.seen.',
        ),
      }),
    )
    .default([]),
  settings: z
    .record(sql, z.array(z.string()).min(1))
    .default({})
    .describe('Setting that any user may change → values.'),
  planner: z
    .boolean()
    .default(false)
    .describe('Also turns over every switch of the planner that the server has.'),
});
export type AnySessionFile = z.infer<typeof anySessionFile>;

export const poisonFile = z.strictObject({
  property: z.literal('poison'),
  runs,
  sample,
  jobs: z.int().positive().describe('The greatest number of jobs.'),
  first: z
    .array(
      z.strictObject({
        poisoned: z.array(z.boolean()).min(1).describe('Job by job, best placed first.'),
        limit: z.int().positive(),
        kinds: z.int().positive(),
      }),
    )
    .describe('Tried first, in every function and table.'),
});
export type PoisonFile = z.infer<typeof poisonFile>;

export const lostEventFile = z.strictObject({
  property: z.literal('lost-event'),
  runs,
  jobs: z.int().positive().describe('The greatest number of jobs at once.'),
});
export type LostEventFile = z.infer<typeof lostEventFile>;

export const maximumFile = z.strictObject({
  property: z.literal('maximum'),
  runs,
  attempts: z.int().positive().describe('The greatest number of leases before the one judged.'),
});
export type MaximumFile = z.infer<typeof maximumFile>;

export const configFile = z.strictObject({
  property: z.literal('config'),
  runs,
  sample,
  setup: statements,
  bad: z.array(z.string()).min(2).describe('Values that are bad for every key.'),
  starts: z
    .array(step.extend({ needs: z.array(z.string()).describe('The keys that it needs.') }))
    .min(1)
    .describe('What starts a job: with one of its keys bad it answers config_invalid.'),
  ends: z.array(step).min(1).describe('What ends leases: it answers as with a good configuration.'),
});
export type ConfigFile = z.infer<typeof configFile>;

export const propertyFile = z.discriminatedUnion('property', [
  anyValueFile,
  anyJsonFile,
  backoffFile,
  errorTextFile,
  anySessionFile,
  poisonFile,
  lostEventFile,
  maximumFile,
  configFile,
]);
export type PropertyFile = z.infer<typeof propertyFile>;
