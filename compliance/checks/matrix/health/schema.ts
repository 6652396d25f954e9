/** The form of a matrix of health: rows of a truth table, and what each figure says of them. */
import { z } from 'zod';
import { stepsSchema } from '../steps.ts';

const word = z.string().regex(/^[a-z][a-z0-9_]*$/, 'names are lower-case letters, digits and _');

const fixture = z.strictObject({
  steps: stepsSchema,
  times: z.int().min(1).default(2).describe('So many of them stand in the table of all fixtures.'),
  signals: z
    .record(word, z.number())
    .default({})
    .describe(
      'v_queue_health over one such row; a count not named is 0, an age not named is none.',
    ),
  pressure: z
    .strictObject({ waiting: z.int(), dead: z.int(), max_attempts_seen: z.int().nullable() })
    .optional()
    .describe('Its row of v_job_retry_pressure; unset: none.'),
  lease: z
    .strictObject({ holder: z.string(), left_seconds: z.number() })
    .optional()
    .describe('Its row of v_lease_active; unset: none.'),
  letters: z
    .array(
      z.strictObject({
        layer: z.enum(['event', 'job']),
        event_type: z.string(),
        route_code: z.string(),
        failure_code: z.string(),
        attempts: z.int(),
        resolution: z.string().nullable(),
      }),
    )
    .default([])
    .describe('Its rows of v_dead_letter_all.'),
  oldest_open_seconds: z
    .number()
    .optional()
    .describe('How long ago its open dead letters first failed, for fn_dead_letter_health.'),
});
export type Fixture = z.infer<typeof fixture>;

export const healthFile = z.strictObject({
  matrix: z.literal('health'),
  clause: z.string().min(1),
  title: z.string().min(1),
  reader: word.describe('The role that reads every figure.'),
  signals: z.record(
    word,
    z.strictObject({
      is: z.enum(['count', 'age', 'fact']),
      bound_as_shipped: z
        .number()
        .nullable()
        .describe('Its bound under the default configuration.'),
      bounded_by: z
        .union([z.string(), z.number()])
        .nullable()
        .describe('The setting to move its bound with, or a bound that nothing moves.'),
      equals: z.string().optional().describe('Of a fact: a query of the number it must equal.'),
      within: z.number().default(0).describe('How far a fact may be off.'),
      capped: z.boolean().default(false).describe('It stops at queue.health.count_cap.'),
    }),
  ),
  buckets: z.array(word).min(1).describe('Signals of which every job is counted in exactly one.'),
  fixtures: z.record(word, fixture),
});
export type HealthFile = z.infer<typeof healthFile>;
