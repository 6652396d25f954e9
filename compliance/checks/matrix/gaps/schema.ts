/** The form of a matrix of gaps: how each comes about, when it is named, as what, and what ends it. */
import { z } from 'zod';
import { stepsSchema } from '../steps.ts';

const says = z.string().min(1).describe('The case in words, for the name of its cells.');

const gap = z.strictObject({
  reason: z.string().regex(/^[a-z][a-z_]*$/),
  says,
  steps: stepsSchema.describe('What is there before; nothing is named yet.'),
  then: stepsSchema
    .optional()
    .describe('What makes the gap at once; unset: time does, when bound_seconds are over.'),
  about: z
    .enum(['the job', 'the system'])
    .describe("Whether the row bears the job's id, or none at all."),
  kind: z.literal('none').optional().describe("The row bears no kind; unset: the job's."),
  status: z.string().nullable().describe('The status that the row shows: for a setting, its key.'),
  since: z
    .union([z.string(), z.strictObject({ query: z.string() })])
    .nullable()
    .describe("A column of the job's row, or a query; null: no time belongs to it."),
  bound_seconds: z.number().min(0).default(0).describe('How long after `since` it is in order.'),
  ended_by: stepsSchema.optional().describe('After these steps it is named no more.'),
});
export type Gap = z.infer<typeof gap>;

export const gapsFile = z.strictObject({
  matrix: z.literal('gaps'),
  clause: z.string().min(1),
  title: z.string().min(1),
  gaps: z.array(gap).min(1),
  states: z
    .array(
      z.strictObject({
        says,
        steps: stepsSchema,
        status: z.enum(['queued', 'leased', 'in_progress', 'retry_waiting']),
        within_seconds: z.number().positive().describe('By then some reason names the job.'),
      }),
    )
    .min(1),
  quiet: z.array(
    z.strictObject({
      says,
      steps: stepsSchema,
      reason: z
        .string()
        .optional()
        .describe('The reason that must not show; unset: any of the job.'),
    }),
  ),
  healthy: z.record(z.string(), stepsSchema).describe('A queue in which all is well.'),
});
export type GapsFile = z.infer<typeof gapsFile>;
