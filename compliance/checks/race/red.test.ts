/** Each race is seen red: with the fault planted that it is there to find, it names it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox, Server } from '../../types.ts';
import { INVARIANTS } from './perform.ts';
import { known } from './known.ts';
import { loadInvariants, loadScenarios } from './load.ts';
import { observations, rehearse } from './rehearse.ts';
import type { Invariant } from './scenario.ts';
import { breakFunction, brokenOf, installQueue, openServer, ROOT } from './testing.ts';
import { openTheatre } from './theatre.ts';

let server: Server;
let invariants: readonly Invariant[];
beforeAll(async () => {
  invariants = await loadInvariants(INVARIANTS, ROOT);
  server = await openServer();
  await server.template('queue', installQueue);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

type Red = {
  fault: string;
  race: string;
  /** The case of the race; the only one where unset. */
  case?: string;
  plant: (sandbox: Sandbox) => Promise<void>;
  /** Assertion that must break → what must be seen. */
  finds: Readonly<Record<string, RegExp>>;
};

const edit =
  (name: string, ...edits: (readonly [RegExp, string])[]) =>
  (sandbox: Sandbox): Promise<void> =>
    breakFunction(sandbox, name, edits);

const SKIP = /for update skip locked/g;
const SERIAL = 'every order comes to what some serial order comes to';
const MISHAP = 'no deadlock, no raw error, nobody waits for ever';
const HELD = 'the invariants hold after every order';

const reds: Red[] = [
  {
    fault: 'a claim without skip locked',
    race: 'claim-never-waits',
    case: 'claimed',
    plant: edit('dot_queue.claim', [SKIP, 'for update']),
    finds: { 'claimed: a claim never waits': /^it waits for \w+ \(in \d+ of \d+ orders\)/ },
  },
  {
    fault: 'a claim without any row lock',
    race: 'claim-never-waits',
    case: 'claimed',
    plant: edit('dot_queue.claim', [SKIP, '']),
    finds: { 'claimed: no job is granted twice': /^false / },
  },
  {
    fault: 'a claim that locks the head of every kind and keeps the best',
    race: 'claim-locks-only-what-it-takes',
    case: 'one_of_three_kinds',
    plant: edit(
      'dot_queue.lock_heads',
      [/if cardinality\(v_ids\) >= p_limit then\s+return v_ids;\s+end if;/, ''],
      [/return v_ids;\s+end if;\s+v_depth/, 'return v_ids[1:p_limit]; end if; v_depth'],
    ),
    finds: {
      'one_of_three_kinds: every other job can be locked while the claim is open':
        /^it waits for claimer/,
    },
  },
  {
    fault: 'a reaper that selects ids and then updates them without asking again',
    race: 'reap-against-lease-calls',
    case: 'succeed',
    async plant(sandbox) {
      await edit('public.fn_job_lease_reaper', [SKIP, ''])(sandbox);
      await edit('dot_queue.reap_rows', [
        /and q\.status in \('leased', 'in_progress'\)\s+and q\.leased_until <= p_now/,
        '',
      ])(sandbox);
      await edit('dot_queue.reap_rows', [
        // The constraints alone would already refuse this reaper; so it is made to satisfy them.
        /ended_token = q\.lease_token/,
        'finished_at = null, ended_token = coalesce(q.lease_token, q.ended_token)',
      ])(sandbox);
    },
    finds: {
      'succeed: the reaper never waits': /^it waits for caller/,
      [`succeed: ${SERIAL}`]: /reap\.reaped is 1, there 0/,
      [`succeed: ${HELD}`]: /"status_from":"succeeded"/,
    },
  },
  {
    fault: 'a reaper that makes the job claimable at once',
    race: 'reap-against-claim',
    plant: edit('dot_queue.reap_rows', [
      /process_after = dot_queue\.next_process_after\(q\.attempts, p_now\)/,
      "process_after = p_now - interval '1 hour'",
    ]),
    finds: { 'a job in back-off is not to be had': /job_id/ },
  },
  {
    fault: 'reapers without skip locked',
    race: 'reapers-at-once',
    plant: edit('public.fn_job_lease_reaper', [SKIP, 'for update']),
    finds: { 'no reaper waits for another': /^it waits for (a|b)/ },
  },
  {
    fault: 'a reaper that goes by ids alone, and no unique index behind it',
    race: 'one-open-dead-letter',
    case: 'fail_permanent',
    async plant(sandbox) {
      await edit('public.fn_job_lease_reaper', [SKIP, ''])(sandbox);
      await sandbox.plant('drop index public.job_dead_letter_open_idx');
      await edit('dot_queue.dead_letters', [
        /on conflict \(job_id\) where resolved_at is null do update\s+set [^;]*;/,
        ';',
      ])(sandbox);
      await edit('dot_queue.dead_letters', [
        /ended_token = q\.lease_token/,
        'ended_token = coalesce(q.lease_token, q.ended_token)',
      ])(sandbox);
    },
    finds: {
      'fail_permanent: never more than one dead letter, and never more than one event': /^false/,
      [`fail_permanent: ${HELD}`]: /"letters":2/,
    },
  },
  {
    fault: 'an enqueue that looks first and then inserts, and no unique index behind it',
    race: 'one-row-per-key',
    case: 'one_by_one',
    async plant(sandbox) {
      await sandbox.plant('drop index public.job_queue_active_key_idx');
      await edit('dot_queue.enqueue_one', [
        /on conflict \(idempotency_key\)\s+where status in \([^)]*\)\s+do nothing/,
        '',
      ])(sandbox);
    },
    finds: {
      'one_by_one: there is one job, and everybody whose call was kept has its id': /^false/,
      [`one_by_one: ${HELD}`]: /"jobs":2/,
    },
  },
  {
    fault: 'attempts counted outside the transaction',
    race: 'rolled-back-claim',
    async plant(sandbox) {
      await sandbox.plant(`create sequence public.planted; grant all on public.planted to public`);
      await edit('dot_queue.grant_leases', [
        /attempts = q\.attempts \+ 1/,
        "attempts = nextval('public.planted')",
      ])(sandbox);
    },
    finds: {
      'after the rollback a claim takes the best, as its first attempt': /"attempts":[2-9]/,
    },
  },
  {
    fault: 'a batch that inserts in the order of its input',
    race: 'opposite-batches',
    plant: edit('dot_queue.enqueue_items', [/order by \(case [^;]*?j\.place\s+loop/, 'loop']),
    finds: { [MISHAP]: /^a deadlock of (up and down|down and up)/ },
  },
];

test.each(reds)('$race finds $fault', async ({ race, case: only, plant, finds }) => {
  await using sandbox = await server.sandbox('queue');
  await plant(sandbox);
  const scenarios = await loadScenarios(`selftest/races/${race}.yaml`, ROOT);
  const one = known(
    scenarios.find((scenario) => scenario.case === (only ?? '')),
    'the case',
  );
  await using theatre = await openTheatre(sandbox, one);
  const how = { seed: 1, exhaustive: true, signal: new AbortController().signal, invariants };
  const seen = observations(await rehearse(theatre, one, how));
  const broken = brokenOf(seen);
  expect(broken).toMatchObject(
    Object.fromEntries(
      Object.entries(finds).map(([name, pattern]) => [name, expect.stringMatching(pattern)]),
    ),
  );
  for (const one of seen) {
    if (one.is !== 'assertion' || one.ok) continue;
    expect(one.expected).toBeTruthy();
    expect(one.trace?.at(-1)).toMatch(/^to run this order alone: orders: \[".+"\]$/);
  }
});
