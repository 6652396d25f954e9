/** The form of a matrix of flags: what each switch does to each call, while it is set and after. */
import { z } from 'zod';
import { stepSchema, stepsSchema } from '../steps.ts';

const word = z.string().regex(/^[a-z][a-z0-9_]*$/, 'names are lower-case letters, digits and _');
const answers = z.record(z.string(), z.json()).default({});

export const flagsFile = z.strictObject({
  matrix: z.literal('flags'),
  clause: z.string().min(1),
  title: z.string().min(1),
  jobs: z.record(word, stepsSchema).describe('The jobs of the one database, in this order.'),
  calls: z.record(
    z.string().min(1),
    z.strictObject({
      query: z.string().min(1).describe('A query of one jsonb value; :held is a job of this file.'),
      answer: z.json().describe('What it answers with no flag set.'),
      moves: z.boolean().default(true).describe('It changes a table beside the audit.'),
    }),
  ),
  flags: z.record(
    word,
    z.strictObject({
      setting: z.record(z.string(), z.string()),
      inert: answers.describe('Call → its answer; it changes nothing but the audit.'),
      otherwise: answers.describe('Call → its answer; it works, in another way.'),
    }),
  ),
  redelivery: z.strictObject({
    flag: word,
    refused: z
      .array(stepSchema)
      .min(1)
      .describe('Steps of a worker whose call comes while it is set.'),
    then: stepsSchema.describe('What happens once it is lifted.'),
    ends: z.strictObject({ status: z.string(), attempts: z.int() }),
  }),
});
export type FlagsFile = z.infer<typeof flagsFile>;
