/**
 * How a job comes into a state: the steps that the files of this kind write, and the calls that they
 * stand for. Only functions of the contract move a job; time passes by shifting the data; what no
 * function of this release does (`plant`) says so.
 */
import { z } from 'zod';

const seconds = z.number().positive();

export const stepSchema = z.union([
  z.enum([
    'enqueue',
    'claim',
    'progress',
    'renew',
    'succeed',
    'fail_transient',
    'fail_permanent',
    'reap',
    'promote',
  ]),
  z.strictObject({ enqueue_due_in_seconds: seconds }),
  z.strictObject({ claim_for_seconds: seconds }),
  z.strictObject({ pass_seconds: seconds.describe('Every row moves that far into the past.') }),
  z.strictObject({
    set: z.record(z.string(), z.string()).describe('Configuration, by its function.'),
  }),
  z.strictObject({ plant: z.string().min(1).describe('SQL; :job is the id, :kind the kind.') }),
]);
export type Step = z.infer<typeof stepSchema>;

/** Steps, in lists within lists where a file names a common beginning once (`*begun`). */
export const stepsSchema = z.array(z.union([stepSchema, z.array(stepSchema)]));
export type Steps = z.infer<typeof stepsSchema>;

export function flat(steps: Steps): Step[] {
  return steps.flat();
}

/** The function that a step calls, where it is one that ends a lease; undefined otherwise. */
export function endingOf(step: Step): string | undefined {
  return typeof step === 'string' ? endings[step] : undefined;
}
const endings: Readonly<Record<string, string>> = {
  succeed: 'fn_job_succeed',
  fail_transient: 'fn_job_fail_transient',
  fail_permanent: 'fn_job_fail_permanent',
  reap: 'fn_job_lease_reaper',
};

/** Who holds a lease, and what ended it: one entry a claim, in order; the last may still be held. */
export type Grant = { endedBy?: string };

/** The leases that these steps grant. Pure: it says what must come of the steps, not what did. */
export function grantsOf(steps: readonly Step[]): Grant[] {
  const grants: Grant[] = [];
  for (const step of steps) {
    if (step === 'claim' || (typeof step === 'object' && 'claim_for_seconds' in step)) {
      grants.push({});
      continue;
    }
    const last = grants.at(-1);
    const endedBy = endingOf(step);
    if (last && endedBy !== undefined && last.endedBy === undefined) last.endedBy = endedBy;
  }
  return grants;
}

/** A step in words, for the trace of a cell. */
export function stepText(step: Step): string {
  if (typeof step === 'string') return step;
  const [name = '', value] = Object.entries(step)[0] ?? [];
  return `${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`;
}
