import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDataFile } from '../../data_file.ts';
import { ROOT } from '../../testing.ts';
import { decide, type Call, type Token } from './expect.ts';
import { answersFile } from './schema.ts';

const { data: table } = await readDataFile(
  answersFile,
  join('selftest', 'matrix', 'lease-answers.yaml'),
  ROOT,
);

const ended = (endedBy: string) => ({ endedBy });
const plan = (status: Call['plan']['status'], more: Partial<Call['plan']> = {}): Call['plan'] => ({
  status,
  expired: false,
  at_maximum: false,
  at_longest_hold: false,
  ...more,
});
const claim = (n: number): Token => ({ is: 'claim', claim: n });

type Case = [says: string, call: Call, answer: string];
const cases: Case[] = [
  [
    'a missing token comes before everything',
    { function: 'fn_job_succeed', token: { is: 'missing' }, plan: plan('none'), grants: [] },
    'invalid_argument',
  ],
  [
    'then that there is no such job',
    { function: 'fn_job_succeed', token: { is: 'unknown' }, plan: plan('none'), grants: [] },
    'job_not_found',
  ],
  [
    'the ending that came last is told again, also of a job that is over',
    {
      function: 'fn_job_succeed',
      token: claim(1),
      plan: plan('succeeded'),
      grants: [ended('fn_job_succeed')],
    },
    'already_applied',
  ],
  [
    'another function is told that the job is over',
    {
      function: 'fn_job_progress',
      token: claim(1),
      plan: plan('succeeded'),
      grants: [ended('fn_job_succeed')],
    },
    'already_terminal',
  ],
  [
    'an ending that a later one replaced is refused',
    {
      function: 'fn_job_fail_transient',
      token: claim(1),
      plan: plan('retry_waiting'),
      grants: [ended('fn_job_fail_transient'), ended('fn_job_lease_reaper')],
    },
    'not_leased',
  ],
  [
    'an ending is told again while another worker holds the job',
    {
      function: 'fn_job_fail_transient',
      token: claim(1),
      plan: plan('leased'),
      grants: [ended('fn_job_fail_transient'), {}],
    },
    'already_applied',
  ],
  [
    'a foreign token comes before the expiry',
    {
      function: 'fn_job_succeed',
      token: { is: 'foreign' },
      plan: plan('leased', { expired: true }),
      grants: [{}],
    },
    'lease_token_mismatch',
  ],
  [
    'the expiry comes before the longest hold',
    {
      function: 'fn_job_lease_renew',
      token: claim(1),
      plan: plan('leased', { expired: true, at_longest_hold: true }),
      grants: [{}],
    },
    'lease_expired',
  ],
  [
    'the longest hold is the renewal’s alone',
    {
      function: 'fn_job_succeed',
      token: claim(1),
      plan: plan('leased', { at_longest_hold: true }),
      grants: [{}],
    },
    'succeeded',
  ],
  [
    'a failure at the maximum is the last',
    {
      function: 'fn_job_fail_transient',
      token: claim(1),
      plan: plan('leased', { at_maximum: true }),
      grants: [{}],
    },
    'dead_letter',
  ],
];

test.each(cases)('%s', (_, call, answer) => {
  const decision = decide(call, table);
  const said = {
    refused: 'reason' in decision ? decision.reason : '',
    already_applied: 'already_applied',
    transition: 'transition' in decision ? decision.transition.to : '',
  };
  expect(said[decision.is]).toBe(answer);
});

test('a call that the table does not know is an error, and no expectation', () => {
  const call = { function: 'fn_job_other', token: claim(1), plan: plan('leased'), grants: [{}] };
  expect(() => decide(call, table)).toThrow(/no answer for fn_job_other/);
});
