import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CheckSpec, Ended, Observation, Verdict } from '../types.ts';
import { judge } from './judge.ts';
import { aCheck, anAssertion } from './samples.ts';

const completed: Ended = { how: 'completed', elapsedMs: 1 };
const timedOut: Ended = { how: 'timed_out', elapsedMs: 1 };
const broke: Ended = { how: 'threw', message: 'no such folder', cause: 'kit', elapsedMs: 1 };
const gap: Ended = { how: 'threw', message: 'no file matched', cause: 'coverage', elapsedMs: 1 };
const measure = (value: number, uncertainty = 0): Observation => ({
  is: 'measure',
  name: 'from expiry to reaped',
  value,
  unit: 'ms',
  bound: [0, 100],
  uncertainty,
});
const kills = (value: number): Observation => ({ is: 'count', name: 'kills', value });

type Case = {
  name: string;
  spec?: Partial<CheckSpec>;
  seen: readonly Observation[];
  ended?: Ended;
  status: Verdict['status'];
  cause?: Verdict['cause'];
  reason?: RegExp;
};

const cases: Case[] = [
  { name: 'all that was planned held', seen: [anAssertion()], status: 'passed' },
  {
    name: 'a broken assertion is failed and says what was expected and seen',
    seen: [{ is: 'assertion', name: 'one row', ok: false, expected: '1', seen: '2' }],
    status: 'failed',
    reason: /^one row; expected 1; saw 2$/,
  },
  {
    name: 'a broken assertion is failed even if the run then threw',
    spec: { expects: 5 },
    seen: [anAssertion(false)],
    ended: broke,
    status: 'failed',
  },
  {
    name: 'a broken assertion is failed even if the plan was short',
    spec: { expects: 5 },
    seen: [anAssertion(false)],
    status: 'failed',
    reason: /it holds/,
  },
  {
    name: 'a short plan is a coverage error',
    spec: { expects: 2 },
    seen: [anAssertion()],
    status: 'error',
    cause: 'coverage',
    reason: /planned 2 assertions and made only 1/,
  },
  {
    name: 'more than planned is a coverage error',
    seen: [anAssertion(), anAssertion()],
    status: 'error',
    cause: 'coverage',
    reason: /planned 1 assertion and made 2/,
  },
  {
    name: 'nothing at all is a coverage error',
    seen: [],
    status: 'error',
    cause: 'coverage',
    reason: /nothing ran/,
  },
  {
    name: 'nothing at all is a coverage error even where nothing was planned',
    spec: { expects: 0 },
    seen: [],
    status: 'error',
    cause: 'coverage',
  },
  {
    name: 'counts and measures without an assertion prove nothing',
    spec: { expects: 0 },
    seen: [kills(9), measure(5)],
    status: 'error',
    cause: 'coverage',
  },
  {
    name: 'too little observed is unknown',
    spec: { mustObserve: { kills: 4 } },
    seen: [anAssertion(), kills(3)],
    status: 'unknown',
    reason: /kills is 3, not 4/,
  },
  {
    name: 'what was never counted is 0',
    spec: { mustObserve: { kills: 1 } },
    seen: [anAssertion()],
    status: 'unknown',
    reason: /kills is 0, not 1/,
  },
  {
    name: 'a count that is no number reaches nothing',
    spec: { mustObserve: { kills: 1 } },
    seen: [anAssertion(), kills(Number.NaN)],
    status: 'unknown',
  },
  {
    name: 'counts of one name add up',
    spec: { mustObserve: { kills: 4 } },
    seen: [anAssertion(), kills(2), kills(2)],
    status: 'passed',
  },
  {
    name: 'what cannot be decided is unknown',
    seen: [anAssertion(), { is: 'undecidable', name: 'late reap', because: 'no sweep started' }],
    status: 'unknown',
    reason: /^late reap: no sweep started$/,
  },
  {
    name: 'a coverage error that was thrown',
    seen: [],
    ended: gap,
    status: 'error',
    cause: 'coverage',
    reason: /^no file matched$/,
  },
  {
    name: 'anything else that was thrown is our own breakage',
    seen: [],
    ended: broke,
    status: 'error',
    cause: 'kit',
    reason: /^no such folder$/,
  },
  {
    name: 'a run that does not end says its limit',
    seen: [],
    ended: timedOut,
    status: 'error',
    cause: 'kit',
    reason: /within its limit of 5 s/,
  },
  {
    name: 'error outweighs unknown, and the reasons of both are kept',
    spec: { mustObserve: { kills: 1 } },
    seen: [anAssertion()],
    ended: timedOut,
    status: 'error',
    cause: 'kit',
    reason: /limit[\s\S]*kills/,
  },
  {
    name: 'our own breakage outweighs a gap',
    seen: [anAssertion(), anAssertion()],
    ended: broke,
    status: 'error',
    cause: 'kit',
  },
  { name: 'a measure within its bound', seen: [anAssertion(), measure(100)], status: 'passed' },
  {
    name: 'a measure outside its bound is failed',
    seen: [anAssertion(), measure(101)],
    status: 'failed',
    reason: /101 ± 0 ms; the bound is 0 to 100 ms/,
  },
  {
    name: 'a measure below its bound is failed',
    seen: [anAssertion(), measure(-1)],
    status: 'failed',
  },
  {
    name: 'a measure outside its bound by less than its uncertainty cannot be decided',
    seen: [anAssertion(), measure(101, 2)],
    status: 'unknown',
  },
  {
    name: 'a measure that is no number is our own breakage',
    seen: [anAssertion(), measure(Number.NaN)],
    status: 'error',
    cause: 'kit',
  },
  {
    name: 'a planned check is not reviewed, whatever was seen',
    spec: { planned: 'built with release 2.1' },
    seen: [anAssertion(false)],
    status: 'not_reviewed',
    reason: /^built with release 2.1$/,
  },
  {
    name: 'what names another check of the task is left aside',
    seen: [anAssertion(), { ...anAssertion(false), check: 's1.other' }],
    status: 'passed',
  },
  {
    name: 'what names this check counts',
    seen: [{ ...anAssertion(), check: 's1.holds' }],
    status: 'passed',
  },
];

test.each(cases)('$name', ({ spec, seen, ended, status, cause, reason }) => {
  const verdict = judge(aCheck(spec), seen, ended ?? completed);
  expect(verdict).toMatchObject({ status, ...(cause && { cause }) });
  expect(verdict.cause === undefined).toBe(status !== 'error');
  expect(verdict.reasons.length > 0).toBe(status !== 'passed');
  if (reason) expect(verdict.reasons.join('\n')).toMatch(reason);
});

const observation: fc.Arbitrary<Observation> = fc.oneof(
  fc.record({ is: fc.constant('assertion' as const), name: fc.string(), ok: fc.boolean() }),
  fc.record({
    is: fc.constant('count' as const),
    name: fc.constantFrom('kills', 'x'),
    value: fc.nat(5),
  }),
  fc.record({ is: fc.constant('undecidable' as const), name: fc.string(), because: fc.string() }),
  fc.record({
    is: fc.constant('measure' as const),
    name: fc.string(),
    value: fc.integer({ min: -10, max: 200 }),
    unit: fc.constant('ms' as const),
    bound: fc.constant([0, 100] as const),
    uncertainty: fc.nat(20),
  }),
);
const bad: fc.Arbitrary<Observation> = fc.oneof(
  fc.constant(anAssertion(false)),
  fc.constant<Observation>({ is: 'undecidable', name: 'x', because: 'y' }),
  fc.constant(measure(500)),
);
const goodness = ['failed', 'error', 'unknown', 'not_reviewed', 'passed'];

test('adding a failing observation never improves a verdict', () => {
  fc.assert(
    fc.property(
      fc.record({ expects: fc.nat(4), mustObserve: fc.constantFrom({}, { kills: 3 }) }),
      fc.array(observation, { maxLength: 6 }),
      fc.constantFrom(completed, timedOut, broke, gap),
      bad,
      fc.nat(6),
      (spec, seen, ended, worse, place) => {
        const before = judge(aCheck(spec), seen, ended);
        const after = judge(aCheck(spec), seen.toSpliced(place, 0, worse), ended);
        expect(goodness.indexOf(after.status)).toBeLessThanOrEqual(goodness.indexOf(before.status));
        expect(after.status).not.toBe('passed');
        if (worse.is !== 'undecidable') expect(after.status).toBe('failed');
      },
    ),
  );
});

test('the order of observations changes no verdict', () => {
  fc.assert(
    fc.property(fc.array(observation, { maxLength: 6 }), (seen) => {
      const spec = aCheck({ expects: 2, mustObserve: { kills: 3 } });
      const backwards = judge(spec, seen.toReversed(), completed);
      expect(backwards.status).toBe(judge(spec, seen, completed).status);
    }),
  );
});
