import { expect, test } from 'vitest';
import { digest } from '../../history/digest.ts';
import { judgeDigest } from '../../history/judges/index.ts';
import { told, unlogged } from '../../history/judges/told.ts';
import type { CheckSpec, Observation } from '../../types.ts';
import { assertionsOf, judgesOf } from './observe.ts';

const spec = (params: CheckSpec['params']): CheckSpec => ({
  id: 's5.2.example',
  clause: 's5.2',
  title: 'An example.',
  kind: 'claimers',
  file: 'selftest/claimers/load.yaml',
  params,
  expects: 1,
  mustObserve: {},
  needs: [],
  limitMs: 1000,
  at: { file: 'selftest/dieu45.yaml', line: 1, col: 1 },
});

function observed(names: string[], events = told()): Observation[] {
  const read = digest(events);
  const findings = judgeDigest(read).map((one) => ({
    ...one,
    faults: one.faults.map((fault) => ({ ...fault, trace: ['a line'] })),
  }));
  const mine = spec({ judges: names });
  return [...assertionsOf(mine, judgesOf(mine), read, findings)];
}

test('a check makes one assertion for each of its judges, and no other', () => {
  const assertions = observed(['order', 'lost']).filter(({ is }) => is === 'assertion');
  expect(assertions.map((one) => one.is === 'assertion' && one.ok)).toEqual([true, true]);
});

test('a fault becomes a broken assertion with its trace', () => {
  const events = told().map((event) =>
    event.is === 'row' && event.key === 'a' ? { ...event, status: 'queued' } : event,
  );
  expect(observed(['double-terminal'], events)).toContainEqual(
    expect.objectContaining({
      is: 'assertion',
      ok: false,
      trace: [expect.stringContaining('was accepted as succeeded'), 'a line'],
    }),
  );
});

test('what a judge cannot tell is said, so that the check is not passed', () => {
  expect(observed(['audit-gap'], unlogged(told()))).toContainEqual(
    expect.objectContaining({ is: 'undecidable' }),
  );
});

test.each([{}, { judges: [] }, { judges: ['nobody'] }])('%j is a coverage error', (params) => {
  expect(() => judgesOf(spec(params))).toThrow(/judge/);
});
