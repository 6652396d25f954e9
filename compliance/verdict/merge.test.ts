import { expect, test } from 'vitest';
import type { CheckStatus, ClauseStatus } from '../types.ts';
import { lastLine, mergeClause, totalsOf, worstStatus } from './merge.ts';
import { aClause, aResult } from './samples.ts';

const merges: [CheckStatus[], ClauseStatus][] = [
  [['passed'], 'passed'],
  [['passed', 'not_reviewed'], 'not_reviewed'],
  [['not_reviewed', 'unknown', 'passed'], 'unknown'],
  [['unknown', 'error'], 'error'],
  [['error', 'failed', 'passed'], 'failed'],
  [['not_applicable', 'passed'], 'passed'],
  [['not_applicable', 'not_reviewed'], 'not_reviewed'],
  [['not_applicable'], 'not_applicable'],
];

test.each(merges)('%j merge into %s', (statuses, merged) => {
  const checks = statuses.map((status) => aResult(status));
  expect(mergeClause(aClause(), checks).status).toBe(merged);
});

test('a clause without any check is an error, never green', () => {
  expect(mergeClause(aClause({ checks: [] }), []).status).toBe('error');
});

test('a clause whose checks were all left out of the run is not reviewed', () => {
  expect(mergeClause(aClause(), []).status).toBe('not_reviewed');
});

test('a clause that does not apply is not applicable, with or without checks', () => {
  const clause = aClause({ notApplicable: 'it speaks of the document only', checks: [] });
  expect(mergeClause(clause, []).status).toBe('not_applicable');
});

test('a waiver in force stands above the merged status', () => {
  expect(mergeClause(aClause(), [aResult('failed')], 'waived').status).toBe('waived');
});

test('nothing has no worst status', () => {
  expect(worstStatus([])).toBeUndefined();
});

test('the last line counts checks: what is not green is failed, what did not run is skipped', () => {
  const statuses: CheckStatus[] = [
    'passed',
    'passed',
    'failed',
    'error',
    'unknown',
    'not_applicable',
    'not_reviewed',
  ];
  const clause = mergeClause(
    aClause(),
    statuses.map((status) => aResult(status)),
  );
  expect(lastLine(totalsOf([clause]))).toBe('2 passed, 3 failed, 2 skipped');
});

test('the broken checks of a waived clause are skipped, its green ones still passed', () => {
  const clause = mergeClause(aClause(), [aResult('failed'), aResult('passed')], 'waived');
  expect(totalsOf([clause])).toEqual({ passed: 1, failed: 0, skipped: 1 });
});
