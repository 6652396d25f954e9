import { z } from 'zod';
import type { Kind } from '../types.ts';

const run = z
  .string()
  .regex(/^[a-z][a-z0-9-]*$/, 'a run is named in lower-case letters, digits and hyphens')
  .optional()
  .describe('Checks with the same file and run share one execution.');
const judge = z
  .string()
  .regex(/^[a-z][a-z0-9-]*$/, 'a judge is named in lower-case letters, digits and hyphens')
  .optional()
  .describe('The one finding of the history that decides this check, for example double-hold.');

/** What `params` may hold, by kind of check. A kind that reads a new parameter names it here. */
export const paramsOf: Readonly<Record<Kind, z.ZodObject>> = {
  catalog: z.strictObject({}),
  pgtap: z.strictObject({}),
  race: z.strictObject({ run }),
  explore: z.strictObject({ run }),
  claimers: z.strictObject({ run, judge }),
  timed: z.strictObject({ run, judge }),
  matrix: z.strictObject({ run }),
  property: z.strictObject({ run }),
  plan: z.strictObject({ run }),
};
