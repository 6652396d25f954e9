import { expect, test } from 'vitest';
import type { CheckSpec, Clause, Need } from '../types.ts';
import { aCheck, aClause } from '../verdict/samples.ts';
import {
  everything,
  limitOf,
  plan,
  taskKey,
  taskName,
  waits,
  wantsOwnServer,
  weightOf,
} from './plan.ts';
import type { SelectedClause } from './select.ts';

const selected = (
  specs: readonly Partial<CheckSpec>[],
  clause: Partial<Clause> = {},
): SelectedClause[] => [{ clause: aClause(clause), specs: specs.map(aCheck), leftOut: [] }];
const given = (can: readonly Need[] = [...everything], release = '2.0') => ({
  can: new Set(can),
  release,
});
const idsOf = (specs: readonly CheckSpec[]): string[] => specs.map(({ id }) => id);

test('checks of the same kind, file and params.run share one task', () => {
  const { tasks } = plan(
    selected([
      { id: 's1.a' },
      { id: 's1.b', params: { own: 1 } },
      { id: 's1.c', params: { run: { jobs: 1, seed: 2 } } },
      { id: 's1.d', params: { run: { seed: 2, jobs: 1 } } },
      { id: 's1.e', kind: 'catalog' },
      { id: 's1.f', file: 'other.sql' },
    ]),
    given(),
  );
  expect(tasks.map(({ specs }) => idsOf(specs))).toEqual([
    ['s1.a', 's1.b'],
    ['s1.c', 's1.d'],
    ['s1.e'],
    ['s1.f'],
  ]);
});

test('checks of two clauses share one task', () => {
  const two = [...selected([{ id: 's1.a' }]), ...selected([{ id: 's2.a', clause: 's2' }])];
  expect(plan(two, given()).tasks.map(({ specs }) => idsOf(specs))).toEqual([['s1.a', 's2.a']]);
});

test('a planned check is not reviewed, with its reason, and no task', () => {
  const { tasks, settled } = plan(selected([{ planned: 'comes with explore' }]), given());
  expect(tasks).toEqual([]);
  expect(settled[0]?.verdict).toEqual({ status: 'not_reviewed', reasons: ['comes with explore'] });
});

test('a need that the target does not meet makes the check not applicable, by the target', () => {
  const { tasks, settled } = plan(
    selected([{ needs: ['server_kill', 'pgtap'] }, { id: 's1.b', needs: ['pgtap'] }]),
    given(['pgtap']),
  );
  expect(tasks.map(({ specs }) => idsOf(specs))).toEqual([['s1.b']]);
  expect(settled[0]?.verdict).toMatchObject({
    status: 'not_applicable',
    by: 'target',
    reasons: ['the target cannot kill its server'],
  });
});

test.each([
  ['a check of a later release', [{ since: '3.0' }], {}],
  ['a planned check of a later release', [{ since: '3.0', planned: 'later' }], {}],
  ['a clause of a later release', [{}], { since: '3.0' }],
  ['a clause that has ended', [{}], { since: '1.0', until: '2.0' }],
] as const)('%s is not applicable, by the manifest', (_, specs, clause) => {
  const { tasks, settled } = plan(selected(specs, clause), given());
  expect(tasks).toEqual([]);
  expect(settled[0]?.verdict).toMatchObject({ status: 'not_applicable', by: 'manifest' });
});

test('a task is as patient as the most patient of its checks', () => {
  const { tasks } = plan(
    selected([
      { id: 's1.a', limitMs: 5 },
      { id: 's1.b', limitMs: 50 },
    ]),
    given(),
  );
  expect(tasks.map(limitOf)).toEqual([50]);
});

test('only timed tasks wait, and only asking for it brings a server of its own', () => {
  const specs = [{ kind: 'timed' as const }, { needs: ['own_server' as const] }, { file: 'x' }];
  const { tasks } = plan(selected(specs), given());
  expect(tasks.map(waits)).toEqual([true, false, false]);
  expect(tasks.map(wantsOwnServer)).toEqual([false, true, false]);
});

test('what takes long starts first: by kind, then by how many checks hang on it', () => {
  const { tasks } = plan(
    selected([
      { kind: 'catalog' },
      { file: 'a.sql' },
      { file: 'b.sql' },
      { id: 's1.b', file: 'b.sql' },
      { kind: 'claimers' },
    ]),
    given(),
  );
  const order = tasks.toSorted((a, b) => weightOf(b) - weightOf(a)).map(taskName);
  expect(order).toEqual(['claimers', 'pgtap b.sql', 'pgtap a.sql', 'catalog'].map(named));
});

function named(text: string): string {
  return text.includes(' ') ? text : `${text} selftest/pgtap/s1.sql`;
}

test('a task is named by kind and file', () => {
  const [task] = plan(selected([{}]), given()).tasks;
  expect(task && taskName(task)).toBe('pgtap selftest/pgtap/s1.sql');
  expect(taskKey(aCheck())).toBe(taskKey(aCheck({ id: 's1.b' })));
});
