import { z } from 'zod';
import { timedFindingNames } from '../checks/timed/names.ts';
import { judgeNames } from '../history/finding.ts';
import type { Kind } from '../types.ts';

const run = z
  .string()
  .regex(/^[a-z][a-z0-9-]*$/, 'a run is named in lower-case letters, digits and hyphens')
  .optional()
  .describe('Checks with the same file and run share one execution.');
const rows = z
  .int()
  .positive()
  .optional()
  .describe('Rows of each sort, where a check asks for more than its file does.');
const proves = z
  .enum(['buffers', 'scans'])
  .describe('That buffers of calls are flat, or that the hot table is never scanned.');
const judges = z
  .array(z.enum(judgeNames))
  .min(1)
  .describe('The findings of the history that decide this check, for example double-hold.');
const shows = z
  .array(z.enum(timedFindingNames))
  .min(1)
  .describe('What the measured times of the run must show, for example expiry-to-reap.');

/** What `params` may hold, by kind of check. A kind that reads a new parameter names it here. */
export const paramsOf: Readonly<Record<Kind, z.ZodObject>> = {
  catalog: z.strictObject({}),
  pgtap: z.strictObject({}),
  race: z.strictObject({ run }),
  explore: z.strictObject({ run }),
  claimers: z.strictObject({ run, judges }),
  timed: z.strictObject({ run, judges: judges.optional(), shows: shows.optional() }),
  matrix: z.strictObject({ run }),
  property: z.strictObject({ run }),
  plan: z.strictObject({ run, rows, proves }),
};
