/** The form of `selftest/plan/*.yaml`. */
import { z } from 'zod';

const sql = z.string().regex(/\S/, 'the statement is empty');

export const planFile = z.strictObject({
  plan: z.enum(['buffers', 'scans']).describe('Buffers of calls, or sequential scans of a table.'),
  clause: z.string().describe('The clause that the assertions speak for.'),
  table: z.string().describe('The hot table.'),
  rows: z.int().positive().describe('Rows of each sort; a check may ask for more by its params.'),
  setup: sql.describe('Rows that every call works on, before anything is measured.'),
  small: z.int().positive().describe('Rows of each sort beside which the first measure is taken.'),
  volume: z
    .record(z.string(), sql)
    .describe('Sort of row → a statement that makes rows $1 to $2 of it.'),
  warm: z.int().min(6).describe('Calls before a measure: plpgsql settles on a plan after five.'),
  calls: z.record(z.string(), sql).describe('What is called → the statement.'),
  factor: z.number().positive().optional().describe('Largest allowed ratio of buffers.'),
  slack: z.int().nonnegative().optional().describe('Buffers that may come on top: deeper indexes.'),
});
export type PlanFile = z.infer<typeof planFile>;
