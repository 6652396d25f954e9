import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox, Server } from '../../types.ts';
import { breaches, openServer, rehearsed } from './testing.ts';

// A toy of two tables: what is tested here is the engine, not the queue.
const TOY = `
  create table public.account (id int primary key, balance int not null);
  insert into public.account values (1, 10), (2, 20);
  create table public.job_queue (
    job_id uuid primary key default gen_random_uuid(), rank int not null, taken_by text);
  create function public.fn_job_claim(p_by text) returns setof public.job_queue
  language sql volatile as $$
    update public.job_queue set taken_by = p_by
     where job_id = (select q.job_id from public.job_queue q where q.taken_by is null
                      order by q.rank limit 1 for update skip locked)
    returning *
  $$`;

let server: Server;
beforeAll(async () => {
  server = await openServer();
  await server.template('toy', async (session) => {
    await session.query(TOY);
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});
const toy = (): Promise<Sandbox> => server.sandbox('toy');

const UPDATE_TWICE = `
title: two sessions change one row
sessions:
  a: { transaction: commit, steps: [{ name: add, sql: update account set balance = balance + 1 where id = 1 }] }
  b: { transaction: commit, steps: [{ name: double, sql: update account set balance = balance * 2 where id = 1 }] }
assertions:
  - { name: b waits, when: [add, double, a.commit], must_block: [double] }
  - { name: a waits, when: [double, add, b.commit], must_block: [add] }
  - { name: nobody waits otherwise, when: [add, a.commit, double], must_not_block: [double] }
  - { name: the order of commits counts, when: [add, double], be_true: select balance = 22 from account where id = 1 }
`;

test('a step that has to wait lets the order go on, and ends when it is let go', async () => {
  await using sandbox = await toy();
  const rehearsal = await rehearsed(sandbox, UPDATE_TWICE);
  expect(breaches(rehearsal)).toEqual({});
  // a b | a a b b, a b a b; and the same beginning with b: a blocked session cannot move.
  expect(rehearsal.counts).toMatchObject({ orders: 4, blocked_steps: 2, sampled: 0 });
});

test('a broken promise about waiting is a finding with its trace', async () => {
  await using sandbox = await toy();
  const rehearsal = await rehearsed(
    sandbox,
    UPDATE_TWICE.replace('must_block: [double]', 'must_not_block: [double]'),
  );
  expect(breaches(rehearsal)).toEqual({ 'b waits': 'it waits for a (in 1 of 1 orders)' });
  expect(rehearsal.assertions[0]?.observation()).toMatchObject({
    trace: [
      '  1 a  add       no row',
      '  2 b  double    waits for a',
      '  3 a  a.commit  no row',
      '  → b  double    no row',
      '  4 b  b.commit  no row',
      'to run this order alone: orders: ["a b a b"]',
    ],
  });
});

test('a deadlock is reported, not hung', async () => {
  await using sandbox = await toy();
  const rehearsal = await rehearsed(
    sandbox,
    `
title: two rows in opposite order
sessions:
  a:
    transaction: commit
    steps:
      - { name: a1, sql: update account set balance = 0 where id = 1 }
      - { name: a2, sql: update account set balance = 0 where id = 2 }
  b:
    transaction: commit
    steps:
      - { name: b2, sql: update account set balance = 0 where id = 2 }
      - { name: b1, sql: update account set balance = 0 where id = 1 }
`,
  );
  expect(breaches(rehearsal)).toEqual({
    'no deadlock, no raw error, nobody waits for ever': expect.stringMatching(
      /^a deadlock of a and b/,
    ) as string,
  });
});

test('sessions that nobody is left to let go are reported, and let go', async () => {
  await using sandbox = await toy();
  const rehearsal = await rehearsed(
    sandbox,
    `
title: a lock that is never given back
sessions:
  a: { steps: [{ name: take, sql: select pg_advisory_lock(1) }] }
  b: { steps: [{ name: take_too, sql: select pg_advisory_lock(1) }] }
orders: ['a b']
`,
  );
  expect(breaches(rehearsal)).toEqual({
    'no deadlock, no raw error, nobody waits for ever': 'b waits for ever (in 1 of 1 orders)',
  });
});

test('an update lost between two sessions equals no serial order', async () => {
  await using sandbox = await toy();
  const rehearsal = await rehearsed(
    sandbox,
    `
title: read, then write what was read
sessions:
  a:
    transaction: commit
    steps:
      - { name: read_a, sql: select balance from account where id = 1, capture: { seen_a: balance } }
      - { name: write_a, sql: "update account set balance = :seen_a::int + 1 where id = 1" }
  b:
    transaction: commit
    steps:
      - { name: read_b, sql: select balance from account where id = 1, capture: { seen_b: balance } }
      - { name: write_b, sql: "update account set balance = :seen_b::int + 1 where id = 1" }
`,
  );
  const broken = breaches(rehearsal);
  expect(Object.keys(broken)).toEqual(['every order comes to what some serial order comes to']);
  expect(Object.values(broken)[0]).toMatch(/read_b.*is .*10.*there .*11/);
});

test('an error that the scenario does not allow is a finding; one that it allows is an answer', async () => {
  const failing = (raises: string): string => `
title: a row twice
sessions:
  a: { steps: [{ name: insert, sql: "insert into account values (1, 0)"${raises} }] }
assertions:
  - { name: it is refused, answers: { insert: { error: '23505' } } }
`;
  await using one = await toy();
  expect(Object.values(breaches(await rehearsed(one, failing(''))))).toEqual([
    expect.stringContaining('an error at insert: 23505') as string,
  ]);
  await using two = await toy();
  expect(breaches(await rehearsed(two, failing(", raises: ['23505']")))).toEqual({});
});

const CLAIMS = `
title: two claims
setup:
  - { sql: insert into job_queue (rank) values (1) returning job_id, capture: { best: job_id } }
  - { sql: insert into job_queue (rank) values (2) returning job_id, capture: { next: job_id } }
sessions:
  holder:
    transaction: rollback
    steps: [{ name: hold, sql: "select 1 from job_queue where job_id = :best for update" }]
  claimer:
    steps: [{ name: claim, sql: "select job_id from fn_job_claim('x')" }]
assertions:
  - { name: it takes the next, when: [hold, claim, holder.rollback], answers: { claim: [{ job_id: ':next' }] } }
  - { name: it never waits, must_not_block: [claim] }
`;

test('passing over a row that another call holds equals a serial order, even if that call is undone', async () => {
  await using sandbox = await toy();
  const rehearsal = await rehearsed(sandbox, CLAIMS);
  expect(breaches(rehearsal)).toEqual({});
  expect(rehearsal.counts).toMatchObject({ orders: 3, passed_over: 1 });
});

test('passing over a row that nobody holds equals none', async () => {
  await using sandbox = await toy();
  await sandbox.plant(`
    create or replace function public.fn_job_claim(p_by text) returns setof public.job_queue
    language sql volatile as $$
      update public.job_queue set taken_by = p_by
       where job_id = (select q.job_id from public.job_queue q where q.taken_by is null
                        and not exists (select 1 from pg_catalog.pg_stat_activity
                                         where application_name = 'holder' and state like 'idle in%')
                        order by q.rank limit 1 for update skip locked)
      returning *
    $$`);
  const rehearsal = await rehearsed(sandbox, CLAIMS);
  expect(Object.keys(breaches(rehearsal))).toEqual([
    'it takes the next',
    'every order comes to what some serial order comes to',
  ]);
});

test('every order begins in the same state, whatever the one before did', async () => {
  await using sandbox = await toy();
  const rehearsal = await rehearsed(
    sandbox,
    `
title: deletes everything
setup:
  - { sql: insert into job_queue (rank) values (1) }
sessions:
  a: { steps: [{ name: wipe, sql: delete from account }] }
  b: { steps: [{ name: count, sql: select count(*) as n from account }] }
assertions:
  - { name: b sees the rows that were there at first, when: [count, wipe], answers: { count: [{ n: 2 }] } }
  - { name: set-up ran once, be_true: select count(*) = 1 from job_queue }
`,
  );
  expect(breaches(rehearsal)).toEqual({});
});
