import { expect, test } from 'vitest';
import { grantsOf, type Step } from './steps.ts';

const cases: readonly (readonly [steps: Step[], endedBy: (string | undefined)[]])[] = [
  [['enqueue'], []],
  [['enqueue', 'claim'], [undefined]],
  [['enqueue', { claim_for_seconds: 5 }, 'progress', 'renew'], [undefined]],
  [
    ['enqueue', 'claim', 'fail_transient', 'claim', { pass_seconds: 9 }, 'reap', 'claim'],
    ['fn_job_fail_transient', 'fn_job_lease_reaper', undefined],
  ],
  // A sweep ends no lease that is over already.
  [['enqueue', 'claim', 'succeed', 'reap'], ['fn_job_succeed']],
];

test.each(cases)('%j grants leases that are ended by %j', (steps, endedBy) => {
  expect(grantsOf(steps).map((grant) => grant.endedBy)).toEqual(endedBy);
});
