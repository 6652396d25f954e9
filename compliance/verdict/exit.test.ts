import { expect, test } from 'vitest';
import type { Clause, CheckResult, Profile } from '../types.ts';
import type { ExitCode } from './exit.ts';
import { exitOf, exits, meaningOf, worstExit } from './exit.ts';
import { mergeClause } from './merge.ts';
import { aClause, aResult, ci, release } from './samples.ts';

const passed = aResult('passed');
const planned = aResult('not_reviewed', { spec: { planned: 'later' } });
const inapplicable = aResult('not_applicable', { by: 'target' });
const laterRelease = aResult('not_applicable', { by: 'manifest' });

type Case = {
  name: string;
  checks: readonly CheckResult[];
  clause?: Partial<Clause>;
  override?: 'waived' | 'attested';
  ci: ExitCode;
  release: ExitCode;
};

const cases: Case[] = [
  { name: 'all passed', checks: [passed], ci: 0, release: 0 },
  { name: 'one failed', checks: [passed, aResult('failed')], ci: 1, release: 1 },
  { name: 'one unknown', checks: [passed, aResult('unknown')], ci: 2, release: 2 },
  {
    name: 'our own breakage',
    checks: [passed, aResult('error', { cause: 'kit' })],
    ci: 70,
    release: 70,
  },
  {
    name: 'a plan that was short',
    checks: [passed, aResult('error', { cause: 'coverage' })],
    ci: 3,
    release: 3,
  },
  {
    name: 'failed outweighs our own breakage',
    checks: [aResult('failed'), aResult('error', { cause: 'kit' })],
    ci: 1,
    release: 1,
  },
  {
    name: 'a planned check counts for release only',
    checks: [passed, planned],
    ci: 0,
    release: 2,
  },
  {
    name: 'a check that the target cannot run counts for release only',
    checks: [passed, inapplicable],
    ci: 0,
    release: 2,
  },
  {
    name: 'a check that the manifest leaves to another release counts for none',
    checks: [passed, laterRelease],
    ci: 0,
    release: 0,
  },
  { name: 'nothing but planned checks: nothing ran', checks: [planned], ci: 3, release: 3 },
  {
    name: 'nothing but inapplicable checks: nothing ran',
    checks: [inapplicable],
    ci: 3,
    release: 3,
  },
  { name: 'no check at all', checks: [], clause: { checks: [] }, ci: 3, release: 3 },
  {
    name: 'a failed clause that is waived',
    checks: [aResult('failed')],
    override: 'waived',
    ci: 0,
    release: 2,
  },
  {
    name: 'an unknown clause that is attested',
    checks: [aResult('unknown')],
    override: 'attested',
    ci: 0,
    release: 0,
  },
];

const profiles: [string, Profile][] = [
  ['ci', ci],
  ['release', release],
];

for (const [label, profile] of profiles)
  test.each(cases)(`${label}: $name`, (one) => {
    const clause = mergeClause(aClause(one.clause), one.checks, one.override);
    expect(exitOf([clause], profile)).toBe(label === 'ci' ? one.ci : one.release);
  });

test('a clause that the manifest calls inapplicable asks for nothing', () => {
  const other = mergeClause(aClause({ notApplicable: 'it speaks of the document only' }), []);
  expect(exitOf([mergeClause(aClause(), [passed]), other], release)).toBe(exits.passed);
});

test('a gap beside green clauses is still a gap', () => {
  const bare = mergeClause(aClause({ id: 's2', checks: [] }), []);
  expect(exitOf([mergeClause(aClause(), [passed]), bare], ci)).toBe(exits.coverage);
});

test('no clause at all is a gap', () => {
  expect(exitOf([], ci)).toBe(exits.coverage);
});

const order: ExitCode[] = [130, 64, 65, 69, 4, 1, 70, 3, 2, 0];

test.each(order.map((code, rank) => [code, rank] as const))(
  '%i outweighs all that stand after it',
  (code, rank) => {
    expect(worstExit(order.slice(rank).toReversed())).toBe(code);
  },
);

test('every exit code says what it means, in both languages', () => {
  for (const code of Object.values(exits))
    expect(meaningOf(code, 'vi')).not.toBe(meaningOf(code, 'en'));
});
