/** The form of a matrix of precedence: each function with what can be wrong with a call, in order. */
import { z } from 'zod';
import { stepsSchema } from '../steps.ts';

const word = z.string().regex(/^[a-z][a-z0-9_]*$/, 'names are lower-case letters, digits and _');
const sql = z.string().min(1);

export const faultSchema = z.strictObject({
  says: z.string().min(1).describe('The fault in words, for the name of a cell.'),
  arguments: z
    .record(word, sql)
    .default({})
    .describe('Argument → its bad value as SQL; :job and :job_token stand for a job of this file.'),
  setting: z
    .record(z.string(), z.string())
    .default({})
    .describe('Configuration that is there, good or bad.'),
  isolation: z.enum(['repeatable read', 'serializable']).optional(),
  answer: z.json().describe('What the call is answered for this fault alone.'),
});

export const precedenceFile = z.strictObject({
  matrix: z.literal('precedence'),
  clause: z.string().min(1),
  title: z.string().min(1),
  jobs: z.record(word, stepsSchema),
  faults: z.record(word, faultSchema),
  functions: z.record(
    word,
    z.strictObject({
      arguments: z.record(word, sql).describe('A good call: argument → value as SQL, in order.'),
      rows: z.boolean().default(false).describe('It returns rows, so it raises its refusals.'),
      stable: z.boolean().default(false).describe('It can write no audit row.'),
      wrong: z
        .array(word)
        .min(1)
        .describe('What can be wrong with a call; of several faults the first here is named.'),
    }),
  ),
});
export type PrecedenceFile = z.infer<typeof precedenceFile>;
export type Fault = z.infer<typeof faultSchema>;
