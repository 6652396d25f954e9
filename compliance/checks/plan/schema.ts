/** The form of `selftest/plan/*.yaml`. */
import { z } from 'zod';

const sql = z.string().regex(/\S/, 'the statement is empty');
const calls = z.record(z.string(), sql).describe('What is called → the statement.');

export const planFile = z.strictObject({
  clause: z.string().describe('The clause that the assertions speak for.'),
  table: z.string().describe('The hot table.'),
  rows: z.int().positive().describe('Rows of each sort; a check may ask for more by its params.'),
  small: z.int().positive().describe('Rows of each sort beside which the first measure is taken.'),
  warm: z.int().min(6).describe('Calls before a measure: plpgsql settles on a plan after five.'),
  setup: sql.describe('Rows that every call works on, before anything is measured.'),
  volume: z
    .record(z.string(), sql)
    .describe('Sort of row → a statement that makes rows $1 to $2 of it.'),
  buffers: z.strictObject({
    factor: z.number().positive().describe('Largest allowed ratio of buffers.'),
    slack: z.int().nonnegative().describe('Buffers that may come on top: deeper indexes.'),
    calls,
  }),
  scans: z.strictObject({
    setup: sql.describe('What the calls work on beside the common rows; it stays.'),
    calls,
  }),
});
export type PlanFile = z.infer<typeof planFile>;
