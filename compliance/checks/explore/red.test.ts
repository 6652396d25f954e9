/** Explore is seen red: each planted fault is one that only a schedule inside the functions shows. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CoverageError } from '../../errors.ts';
import type { Observation, Sandbox, Server } from '../../types.ts';
import { known } from '../race/known.ts';
import { loadInvariants, loadScenarios } from '../race/load.ts';
import { INVARIANTS } from '../race/perform.ts';
import { observations, rehearse } from '../race/rehearse.ts';
import type { Scenario } from '../race/scenario.ts';
import {
  breakFunction,
  brokenOf,
  installQueue,
  openServer,
  ROOT,
  scenario,
} from '../race/testing.ts';
import { openExploration } from './index.ts';
import { sideBySide } from './sidebyside.ts';

let server: Server;
beforeAll(async () => {
  server = await openServer();
  await server.template('queue', installQueue);
  await server.template('empty', () => Promise.resolve());
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

async function explored(
  sandbox: Sandbox,
  one: Scenario,
  withInvariants = true,
): Promise<Observation[]> {
  await using theatre = await openExploration(sandbox, one);
  const invariants = withInvariants ? await loadInvariants(INVARIANTS, ROOT) : [];
  const signal = new AbortController().signal;
  return observations(
    await rehearse(theatre, one, {
      seed: 1,
      exhaustive: true,
      signal,
      invariants,
      show: sideBySide,
    }),
  );
}

async function load(file: string, name: string): Promise<Scenario> {
  const scenarios = await loadScenarios(`selftest/explore/${file}.yaml`, ROOT);
  return known(
    scenarios.find((one) => one.case === name),
    name,
  );
}

const SKIP = /for update skip locked/g;

async function breakReaper(sandbox: Sandbox): Promise<void> {
  await breakFunction(sandbox, 'public.fn_job_lease_reaper', [[SKIP, '']]);
  await breakFunction(sandbox, 'dot_queue.reap_rows', [
    [/and q\.status in \('leased', 'in_progress'\)\s+and q\.leased_until <= p_now/, ''],
    // The constraints alone would already refuse this reaper; so it is made to satisfy them.
    [
      /ended_token = q\.lease_token/,
      'finished_at = null, ended_token = coalesce(q.lease_token, q.ended_token)',
    ],
  ]);
}

test('a reaper that selects ids and updates them without asking again overwrites a completion', async () => {
  await using sandbox = await server.sandbox('queue');
  await breakReaper(sandbox);
  const one = await load('reap-and-complete', 'succeed');
  const seen = await explored(sandbox, one);
  const serial = 'succeed: every order comes to what some serial order comes to';
  expect(brokenOf(seen)[serial]).toMatch(/reap\.reaped is 1, there 0/);

  // Both calls side by side, the reaper waiting for what it then overwrites.
  const found = seen.find((each) => each.is === 'assertion' && each.name === serial);
  const trace = found?.is === 'assertion' ? (found.trace ?? []) : [];
  expect(trace.join('\n')).toMatch(/waits for caller/);

  // The choices that it prints lead to the same fault again, alone.
  const choices = /orders: \["(.+)"\]/.exec(trace.at(-1) ?? '')?.[1] ?? '';
  await using again = await server.sandbox('queue');
  await breakReaper(again);
  const replayed = brokenOf(await explored(again, { ...one, orders: [choices.split(' ')] }));
  expect(replayed[serial]).toMatch(/reap\.reaped is 1, there 0.*\(in 1 of 1 orders\)/);
});

test('a claim that picks without a lock grants one job twice', async () => {
  await using sandbox = await server.sandbox('queue');
  await breakFunction(sandbox, 'dot_queue.claim', [[SKIP, '']]);
  const seen = await explored(sandbox, await load('claim-and-claim', 'another_claim'));
  expect(brokenOf(seen)['another_claim: no job is granted twice']).toMatch(/^false/);
});

test('a batch that inserts in the order of its input makes two of them wait for each other', async () => {
  await using sandbox = await server.sandbox('queue');
  await breakFunction(sandbox, 'dot_queue.enqueue_items', [
    [/order by \(case [^;]*?j\.place\s+loop/, 'loop'],
  ]);
  const seen = await explored(sandbox, await load('opposite-batches', ''));
  expect(brokenOf(seen)['no deadlock, no raw error, nobody waits for ever']).toMatch(
    /^a deadlock of up and down/,
  );
});

test('an enqueue that does not look again after its insert runs finished work twice', async () => {
  await using sandbox = await server.sandbox('queue');
  await breakFunction(sandbox, 'dot_queue.enqueue_one', [
    [
      /if v_job_id is not null then[\s\S]*?perform dot_queue\.audit/,
      'if v_job_id is not null then perform dot_queue.audit',
    ],
  ]);
  const seen = await explored(sandbox, await load('enqueue-and-finish', 'succeed'));
  expect(Object.keys(brokenOf(seen))).toContain(
    'succeed: there is one job of the key that was enqueued twice, and never more',
  );
});

const BLIND: [why: string, body: string, says: RegExp][] = [
  [
    'SQL that is not known before',
    `language plpgsql as $$ begin execute 'select 1'; return 1; end $$`,
    /public\.fn_job_x \(it executes SQL that is not known before\)/,
  ],
  [
    'two statements on a line',
    `language plpgsql as $$\nbegin\n  update public.t set a = 1; update public.t set a = 2;\n  return 1;\nend $$`,
    /line 3: a statement that does not begin its line/,
  ],
  [
    'plain SQL of two statements',
    `language sql as $$ update public.t set a = 1; select 1 $$`,
    /it is SQL of 2 statements, and runs as one step/,
  ],
];

test.each(BLIND)(
  'a function that cannot be stopped in is reported: %s',
  async (_why, body, says) => {
    await using sandbox = await server.sandbox('empty');
    await sandbox.plant(
      `create table public.t (a int); create function public.fn_job_x() returns int ${body}`,
    );
    const one = scenario(`
title: a function that cannot be stopped in
sessions:
  a: { steps: [{ name: x, sql: select public.fn_job_x() }] }
  b: { steps: [{ name: y, sql: update public.t set a = 3 }] }
`);
    const exploring = explored(sandbox, one, false);
    await expect(exploring).rejects.toThrow(CoverageError);
    await expect(exploring).rejects.toThrow(says);
  },
);
