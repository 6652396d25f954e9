/** Faults of the SQL, each with the judge that must find it; for tests. */
import type { JudgeName } from '../../history/finding.ts';
import { breakFunction } from '../race/testing.ts';
import type { Plant } from '../testing.ts';
import type { Scenario } from './scenario.ts';

/** Replaces texts in functions; each must be there. */
export const edit =
  (...edits: (readonly [string, RegExp, string])[]): Plant =>
  async (sandbox) => {
    for (const [name, find, put] of edits) await breakFunction(sandbox, name, [[find, put]]);
  };
const sql =
  (text: string): Plant =>
  (sandbox) =>
    sandbox.plant(text);

const skipLocked = /for update skip locked/g;

type Fault = { fault: string; finds: JudgeName; says: RegExp; plant: Plant };
/** Faults that share a run, and what that run has besides the small load. */
export type Red = { faults: readonly Fault[]; scenario: (small: Scenario) => Partial<Scenario> };
export const reds: readonly Red[] = [
  {
    // Whether two claims meet is chance: many workers on many jobs leave little to it.
    scenario: (small) => ({
      claimers: 6,
      jobs: 600,
      enqueue: { batch: 100, single_share: 0 },
      claim: { ...small.claim, batch_share: 1, batch: 10 },
    }),
    faults: [
      {
        fault: 'a claim without row lock',
        finds: 'double-hold',
        says: /was leased as \w+ while \w+ still held it/,
        plant: edit(['dot_queue.claim', skipLocked, ''], ['dot_queue.lock_heads', skipLocked, '']),
      },
    ],
  },
  {
    scenario: (small) => ({
      work: { ...small.work, fail_transient: 0.5 },
      claim: { ...small.claim, ttl_seconds: 30 },
      faults: { ...small.faults, kill_worker: 0 },
    }),
    faults: [
      {
        fault: 'a token that is not cleared at the end',
        finds: 'double-hold',
        says: /was leased as \w+ while \w+ still held it/,
        plant: async (sandbox) => {
          await sql('alter table public.job_queue drop constraint job_queue_lease_check')(sandbox);
          await edit(['fn_job_fail_transient', /lease_token = null,\s*/, ''])(sandbox);
        },
      },
    ],
  },
  {
    scenario: (small) => ({ faults: { ...small.faults, stop_worker: 2 } }),
    faults: [
      {
        fault: 'a renewal whose token is not compared',
        finds: 'stale-write',
        says: /renew on job \w+ was accepted with token/,
        plant: edit([
          'dot_queue.lease_call',
          /when job\.lease_token is distinct from p_lease_token then/,
          "when job.lease_token is distinct from p_lease_token and p_command <> 'fn_job_lease_renew' then",
        ]),
      },
    ],
  },
  {
    scenario: (small) => ({ faults: { ...small.faults, stop_worker: 2 } }),
    faults: [
      {
        fault: 'a success that asks for neither state nor token',
        finds: 'double-terminal',
        says: /was ended twice: succeed, then succeed/,
        plant: edit([
          'dot_queue.lease_call',
          /v_reason := case/,
          "v_reason := case when p_command = 'fn_job_succeed' then null",
        ]),
      },
    ],
  },
  {
    // Contended keys need two who enqueue them.
    scenario: () => ({
      producers: 2,
      held_claims: { count: 3, ms: 400, rollback_share: 0.5 },
    }),
    faults: [
      {
        fault: 'a claim that waits for locked rows',
        finds: 'blocked-claim',
        says: /waited for a (transactionid|tuple) lock/,
        plant: edit(
          ['dot_queue.claim', skipLocked, 'for update'],
          ['dot_queue.lock_heads', skipLocked, 'for update'],
        ),
      },
      {
        fault: 'a reaper that comes half a second early',
        finds: 'early-reap',
        says: /was reaped 0\.\d+ s before its lease ended/,
        plant: edit(
          [
            'fn_job_lease_reaper',
            /q\.leased_until <= v_now/,
            "q.leased_until <= v_now + interval '0.5 s'",
          ],
          [
            'dot_queue.reap_rows',
            /q\.leased_until <= p_now/,
            "q.leased_until <= p_now + interval '0.5 s'",
          ],
        ),
      },
      {
        fault: 'a key that nothing keeps unique',
        finds: 'double-enqueue',
        says: /key shared-\d+ made two jobs/,
        plant: async (sandbox) => {
          await edit(
            ['dot_queue.enqueue_one', /on conflict[^;]*?do nothing/, ''],
            ['dot_queue.enqueue_one', /if v_found\.job_id is not null then/g, 'if false then'],
          )(sandbox);
          await sql('drop index public.job_queue_active_key_idx')(sandbox);
        },
      },
    ],
  },
  {
    scenario: () => ({}),
    faults: [
      {
        fault: 'a reaper that waits a second longer than the lease',
        finds: 'late-reap',
        says: /a sweep that started .* after the lease of job \w+ had expired passed over it/,
        plant: edit([
          'fn_job_lease_reaper',
          /q\.leased_until <= v_now/,
          "q.leased_until <= v_now - interval '1 s'",
        ]),
      },
      {
        fault: 'a flip that writes no audit row',
        finds: 'audit-gap',
        says: /made retry_waiting→queued, and the audit lacks it/,
        plant: edit(['dot_queue.flip_rows', /and q\.status = 'retry_waiting'/, 'and false']),
      },
      {
        fault: 'a claim that takes one more than its limit',
        finds: 'unexpected',
        says: /a claim of at most \d+ returned \d+ jobs/,
        plant: edit(
          ['dot_queue.claim', /limit \(select p_limit - /, 'limit (select p_limit + 1 - '],
          [
            'dot_queue.claim',
            /lock_heads\(v_kinds, p_limit -/,
            'lock_heads(v_kinds, p_limit + 1 -',
          ],
        ),
      },
    ],
  },
  {
    scenario: (small) => ({ config: { ...small.config, 'queue.retry.max_attempts.default': '1' } }),
    faults: [
      {
        fault: 'a reaper that is blind to the maximum',
        finds: 'over-run',
        says: /was granted 2 times; its maximum is 1/,
        plant: edit([
          'dot_queue.reap_rows',
          /q\.attempts >= dot_queue\.max_attempts\(q\.job_kind\)/,
          'false',
        ]),
      },
      {
        fault: 'a token that is kept for the next lease',
        finds: 'token-reuse',
        says: /was granted to job|under token \w+ a second time/,
        plant: edit([
          'dot_queue.grant_leases',
          /lease_token = gen_random_uuid\(\)/,
          'lease_token = coalesce(q.ended_token, gen_random_uuid())',
        ]),
      },
      {
        fault: 'a claim that ignores the priority',
        finds: 'order',
        says: /passed over job \w+, which has priority/,
        plant: edit(
          ['dot_queue.claim', /q\.priority desc, /g, ''],
          ['dot_queue.lock_heads', /[qh]\.priority desc, /g, ''],
        ),
      },
      {
        fault: 'a success that counts one attempt too many',
        finds: 'audit-replay',
        says: /ends succeeded after 1 attempts; replaying its audit gives succeeded after 2/,
        plant: edit([
          'fn_job_succeed',
          /('in_progress', 'succeeded',\s*v_job\.attempts)/,
          '$1 + 1',
        ]),
      },
      {
        fault: 'a reaper that says nothing',
        finds: 'silent-reap',
        says: /cause for queue_lease_reaped, and 0 such warnings/,
        plant: edit(['dot_queue.reap_rows', /'queue_lease_reaped'/, "'queue_quiet'"]),
      },
      {
        fault: 'a progress that raises what the server raises',
        finds: 'raw-error',
        says: /progress .* raised 40P01/,
        plant: edit([
          'fn_job_progress',
          /\bbegin\n/,
          "begin\n  raise exception 'deadlock' using errcode = '40P01';\n",
        ]),
      },
    ],
  },
  {
    scenario: () => ({}),
    faults: [
      {
        fault: 'a retry that loses its row',
        finds: 'lost',
        says: /was enqueued and is gone/,
        plant: sql(`
          create function public.drop_retry() returns trigger language plpgsql security definer as $$
          begin delete from public.job_queue where job_id = new.job_id; return null; end $$;
          create trigger drop_retry after update on public.job_queue for each row
            when (new.status = 'retry_waiting') execute function public.drop_retry()`),
      },
    ],
  },
];
