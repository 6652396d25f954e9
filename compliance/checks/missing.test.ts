import { expect, test } from 'vitest';
import { missingContractObject } from './missing.ts';

test.each([
  [
    '42883',
    'function fn_job_claim(text[], text) does not exist',
    'fn_job_claim of the contract is there',
  ],
  ['42P01', 'relation "public.job_queue" does not exist', 'job_queue of the contract is there'],
  ['42703', 'column q.claimable does not exist', 'claimable of the contract is there'],
  ['3F000', 'schema "dot_queue" does not exist', 'dot_queue of the contract is there'],
  ['42704', 'role "dot_auditor" does not exist', 'dot_auditor of the contract is there'],
  ['42P01', 'relation "pg_clas" does not exist', undefined],
  ['42883', 'function my_job_queue_x() does not exist', undefined],
  ['23505', 'duplicate key value violates unique constraint on job_queue', undefined],
])('%s: %s', (code, message, expected) => {
  expect(missingContractObject(code, message)).toBe(expected);
});
