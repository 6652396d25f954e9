/** The form of a matrix of runs: maximum × path → how often a job runs, and what becomes of it. */
import { z } from 'zod';

const word = z.string().regex(/^[a-z][a-z0-9_]*$/, 'names are lower-case letters, digits and _');

/** How one run ends; `crash` is a worker that says nothing more. */
export const endings = ['succeed', 'fail_transient', 'fail_permanent', 'crash'] as const;
export type Ending = (typeof endings)[number];
const ending = z.enum(endings);
const runs = z.int().min(1);

export const runsFile = z.strictObject({
  matrix: z.literal('runs'),
  clause: z.string().min(1),
  title: z.string().min(1),
  maximums: z.array(z.int().min(1)).min(1),
  default_maximum: z.int().min(1).describe('The maximum of a kind that has none of its own.'),
  failure_codes: z
    .record(ending.exclude(['succeed']), z.string())
    .describe('The code in the dead letter, by the ending of the last run.'),
  paths: z.record(
    word,
    z.strictObject({
      ends: z.array(ending).min(1).describe('How each run ends, over and over.'),
      runs: z.array(runs).min(1).describe('The number of runs for each maximum, in their order.'),
      by_default: runs.describe('The number of runs for the default maximum.'),
    }),
  ),
  lowered: z
    .array(
      z.strictObject({
        path: word,
        failures: z.int().min(1).describe('Runs before the maximum is lowered.'),
        to: z.int().min(1),
        runs,
      }),
    )
    .describe('The maximum is lowered under a job that waits (D18).'),
  ceiling: z.strictObject({
    attempts: z.array(z.int().min(1)).describe('Attempts that a planted row has used up.'),
    status: z.array(z.enum(['queued', 'retry_waiting'])),
    claims: z.record(z.string(), z.string()).describe('How they are claimed → SQL that gives ids.'),
  }),
});
export type RunsFile = z.infer<typeof runsFile>;
