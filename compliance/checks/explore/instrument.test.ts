import { loadModule } from 'libpg-query';
import { expect, test } from 'vitest';
import { footprintOf } from './footprint.ts';
import { instrument } from './instrument.ts';
import { conflict, reach, type Facts } from './interest.ts';

// Before the tables of cases below are made.
await loadModule();

const list = (sql: string): Record<string, string[]> => {
  const { reads, writes, inserts, calls } = footprintOf(sql);
  return { reads: [...reads], writes: [...writes], inserts: [...inserts], calls: [...calls] };
};

const footprints: [sql: string, expected: Record<string, string[]>][] = [
  ['select 1', { reads: [], writes: [], inserts: [], calls: [] }],
  ['select a from s.t', { reads: ['s.t'], writes: [], inserts: [], calls: [] }],
  [
    'select a from s.t q for update of q',
    { reads: ['s.t'], writes: ['s.t'], inserts: [], calls: [] },
  ],
  [
    'insert into s.t select * from s.u',
    { reads: ['s.t', 's.u'], writes: [], inserts: ['s.t'], calls: [] },
  ],
  [
    'insert into s.t values (1) on conflict do nothing',
    { reads: ['s.t'], writes: ['s.t'], inserts: ['s.t'], calls: [] },
  ],
  [
    'with m as (delete from s.t returning a) select s.f(a) from m',
    { reads: ['s.t'], writes: ['s.t'], inserts: [], calls: ['s.f'] },
  ],
  ['select (select max(a) from s.t)', { reads: ['s.t'], writes: [], inserts: [], calls: ['max'] }],
];

test.each(footprints)(
  '%s touches what PostgreSQL says',
  (sql, { writes, inserts, calls, reads }) => {
    const seen = list(sql);
    expect(seen).toMatchObject({ writes, inserts, calls });
    // A table that is written may or may not count as read besides.
    for (const table of reads ?? [])
      expect([...(seen.reads ?? []), ...(seen.writes ?? []), ...(seen.inserts ?? [])]).toContain(
        table,
      );
  },
);

const FUNCTION = `create or replace function s.f(p_a integer) returns integer language plpgsql AS $function$
declare
  v_now timestamptz := clock_timestamp();
begin
  -- a comment stays
  update s.t q
     set a = p_a;
  if not found then
    return 0;
  end if;
  perform s.g(p_a);
  return (select max(q.a) from s.t q);
end
$function$
`;

test('stops stand before what touches a table or the clock, and nothing else is changed', () => {
  const { definition, stops, problems } = instrument('s.f', FUNCTION, 7);
  expect(problems).toEqual([]);
  expect(stops.map(({ id, line, text }) => [id, line, text])).toEqual([
    [7, 0, 'declare …'],
    [8, 5 + 1, 'update s.t q set a = p_a;'],
    [9, 12, 'return (select max(q.a) from s.t q);'],
  ]);
  const bare = definition
    .replaceAll(/assert dieu45_explore\.stop\(\d+\); ?/g, '')
    .replace('$function$ begin', '$function$')
    .replace(/ ?; end(?=\s*\$function\$)/, '');
  expect(bare.replaceAll(/\s+/g, ' ').trim()).toBe(FUNCTION.replaceAll(/\s+/g, ' ').trim());
});

const facts: Facts = {
  functions: new Map([
    ['s.g', { name: 's.g', footprint: footprintOf('update s.v set a = 1'), stops: true }],
    [
      's.trigger',
      { name: 's.trigger', footprint: footprintOf('insert into s.log values (1)'), stops: true },
    ],
  ]),
  views: new Map([['s.v', ['s.t']]]),
  triggers: new Map([['s.t', ['s.trigger']]]),
  unique: new Set(['s.t']),
};

test('a call reaches through functions, views and triggers', () => {
  const { writes, inserts } = reach('select s.g()', facts);
  expect([...writes]).toEqual(['s.t']);
  expect([...inserts]).toEqual(['s.log']);
});

const pairs: [a: string, b: string, meet: boolean][] = [
  ['select 1 from s.t', 'select 1 from s.t', false],
  ['select 1 from s.t', 'update s.t set a = 1', true],
  ['select 1 from s.t', 'update s.u set a = 1', false],
  ['insert into s.log values (1)', 'insert into s.log values (1)', false],
  ['insert into s.t values (1)', 'insert into s.t values (1)', true],
  ['select clock_timestamp()', 'select dieu45_steer.advance(1)', true],
  ['select clock_timestamp()', 'select clock_timestamp()', false],
];

test.each(pairs)('%s and %s: the order can make a difference: %s', (a, b, meet) => {
  expect(conflict(reach(a, facts), reach(b, facts), facts.unique)).toBe(meet);
});
