import { expect, test } from 'vitest';
import type { Answer } from './answer.ts';
import { findRow, knownIds, nameIds, nameRow } from './naming.ts';
import { differences, normalise, type Outcome } from './normalise.ts';
import type { State } from './stage.ts';
import type { Json } from './variables.ts';

const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** One run in which the job is `job`, the token `token`, and two rows carry further ids. */
function outcome(job: string, token: string, one: string, two: string, at: string): Outcome {
  const answer: Answer = {
    is: 'value',
    value: [{ job_id: job, lease_token: token, leased_until: `${at} 10:00:00.123+00` }],
  };
  const state: State = {
    events: [
      { event: one, job, at: `${at}T10:00:00.123456+00:00` },
      { event: two, job: null, at: null },
    ],
    leases: [{ name: `job:${job}`, token }],
  };
  return normalise([['claim', answer]], state, nameIds({ job }));
}

test('two runs that differ in ids, times and the order of rows come to the same', () => {
  const a = outcome(id(1), id(2), id(3), id(4), '2026-01-01');
  const b = outcome(id(9), id(8), id(7), id(6), '2027-05-05');
  const { events = [] } = b.state;
  const swapped = { ...b, state: { ...b.state, events: [...events].reverse() } };
  expect(a).toEqual(b);
  expect(normalise([], swapped.state, nameIds({}))).toEqual(normalise([], a.state, nameIds({})));
  expect(a.answers.claim).toEqual([{ job_id: 'job', lease_token: 'id1', leased_until: 'time' }]);
  expect(a.state.leases).toEqual([{ name: 'job:job', token: 'id1' }]);
});

test('rows that differ only in whose they are keep their own new ids, in whatever order they come', () => {
  const events = [
    { event: id(3), job: id(1) },
    { event: id(4), job: id(2) },
  ];
  const names = (): ReturnType<typeof nameIds> => nameIds({ one: id(1), two: id(2) });
  const there = normalise([], { events }, names());
  expect(normalise([], { events: [...events].reverse() }, names())).toEqual(there);
});

test('a missing time and another token are differences', () => {
  const a = outcome(id(1), id(2), id(3), id(4), '2026-01-01');
  const b = { ...a, state: { ...a.state, leases: [{ name: 'job:job', token: 'id7' } as Json] } };
  expect(differences(a, b)).toEqual([{ path: 'leases.token', here: 'id1', there: 'id7' }]);
  expect(differences(a, { ...a, state: { ...a.state, leases: [] } })).toEqual([
    { path: 'leases', here: { name: 'job:job', token: 'id1' }, there: undefined },
  ]);
});

test('a held row is found again in another run, by a variable or by where its id came up', () => {
  const answers = (made: string): Map<string, Answer> =>
    new Map([['enqueue', { is: 'value', value: { results: [{ job_id: made }] } }]]);
  const here = knownIds({ job: id(1) }, answers(id(2)));
  const there = knownIds({ job: id(5) }, answers(id(6)));
  const lease = nameRow({ table: 'lease', key: `job:${id(1)}` }, here);
  const made = nameRow({ table: 'job', key: id(2) }, here);
  expect(lease.keys).toEqual(['job:{job}']);
  expect(findRow(lease, there)).toBe(`job:${id(5)}`);
  expect(made.keys).toEqual(['{enqueue/results/0/job_id}']);
  expect(findRow(made, there)).toBe(id(6));
  expect(findRow(made, knownIds({ job: id(5) }, new Map()))).toBeUndefined();
  expect(nameRow({ table: 'job', key: id(3) }, here).keys).toEqual([]);
});
