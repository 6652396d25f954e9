import { expect, test } from 'vitest';
import { effectProblem, refusalProblem } from './shape.ts';

const effect = {
  refused: 'false',
  job_id: 'uuid',
  'finished?': 'true',
  lease_name: 'text or null',
};
const good = { refused: false, job_id: '0f8fad5b-d9cb-469f-a165-70867728950e', lease_name: null };

test.each<[unknown, RegExp | undefined]>([
  [good, undefined],
  [{ ...good, finished: true, lease_name: 'a lease' }, undefined],
  [{ ...good, finished: false }, /"finished" is false, not true/],
  [{ ...good, lease_token: 1 }, /"lease_token" is not documented/],
  [{ refused: false, lease_name: null }, /"job_id" is missing/],
  [{ ...good, job_id: 'seven' }, /"job_id" is "seven", not uuid/],
  [{ ...good, lease_name: 7 }, /not text or null/],
  [[good], /it is no object/],
  [undefined, /it is no object: nothing/],
])('the effect %j', (answer, problem) => {
  if (problem === undefined) expect(effectProblem(answer, effect)).toBeUndefined();
  else expect(effectProblem(answer, effect)).toMatch(problem);
});

test.each([
  ['2026-11-30T20:35:53.259685+00:00', true],
  ['0044-03-15T00:00:00+00:00 BC', true],
  ['294276-12-31T23:59:59+14:00', true],
  ['2026-11-30 20:35:53', false],
  ['infinity', false],
])('%s is a time: %s', (text, is) => {
  expect(effectProblem({ at: text }, { at: 'time' }) === undefined).toBe(is);
});

const documented = { refusals: ['invalid_argument', 'not_leased'], effect: {} };
const reasons = {
  invalid_argument: ['argument', 'problem'],
  not_leased: [],
  config_invalid: ['key'],
};

test.each<[Record<string, unknown>, RegExp | undefined]>([
  [{ reason: 'not_leased' }, undefined],
  [{ reason: 'invalid_argument', argument: 'p_job_id', problem: 'required' }, undefined],
  [{ reason: 'invalid_argument', argument: 'p_job_id' }, /must bring "problem"/],
  [{ reason: 'config_invalid', key: 'k' }, /not documented for this function/],
  [{ reason: 'constructor' }, /not in the contract's list/],
  [{}, /undefined is not in the contract's list/],
])('the refusal %j', (refusal, problem) => {
  if (problem === undefined) expect(refusalProblem(refusal, documented, reasons)).toBeUndefined();
  else expect(refusalProblem(refusal, documented, reasons)).toMatch(problem);
});
