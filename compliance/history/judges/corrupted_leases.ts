/** Histories that are corrupted in what they tell of leases: each judge must notice its own. */
import type { Change, HistoryEvent, Invoke, Ok } from '../events.ts';
import { drop, grantsOf, patch, pick, swap, told, unlogged } from './told.ts';
import type { Corrupt, Corruption } from './told.ts';

const [a, b, again, c] = grantsOf(told());

/** Turns a refusal into an acceptance that led to `to`. */
const accepted =
  (to: string): Corrupt =>
  (events) =>
    patch(events, pick('fail', {}), () => ({
      is: 'ok',
      answer: { from: 'leased', to, attempts: 1 },
    }));
const untilOf = (event: Change) => event.untilWasUs ?? 0;
/** The second lease of b begins 0.5 s before the first one ends. */
const early: Corrupt = (events) =>
  patch(
    patch(events, pick('change', { job: b.job, token: again.token }), () => ({
      atUs: b.untilUs - 5e5,
    })),
    pick('ok', { f: 'claim' }, 2),
    () => ({ atUs: b.untilUs - 5e5 }),
  );

export const corruptedLeases: readonly Corruption[] = [
  [
    'double-hold',
    'a grant shifted into the lease before it',
    /still held it, for another 0\.500 s/,
    3,
    early,
  ],
  [
    'double-hold',
    'the same, seen without the row log',
    /still held it, for another 0\.500 s/,
    2,
    (all) => early(unlogged(all)),
  ],
  [
    'early-reap',
    'a reap shifted before the expiry',
    /reaped 0\.200 s before its lease ended/,
    2,
    (all) =>
      patch(all, pick('change', { by: 'fn_job_lease_reaper' }), (event: Change) => ({
        atUs: untilOf(event) - 2e5,
      })),
  ],
  [
    'early-reap',
    'the same, seen in the audit alone',
    /reaped 0\.200 s before its lease ended/,
    2,
    (all) =>
      patch(unlogged(all), pick('audit', { command: 'fn_job_lease_reaper' }), () => ({
        atUs: b.untilUs - 2e5,
      })),
  ],
  [
    'late-reap',
    'a reap shifted behind the sweep',
    /a sweep that started .* passed over it/,
    4,
    (all) =>
      patch(all, pick('change', { by: 'fn_job_lease_reaper' }), ({ atUs }: Change) => ({
        atUs: atUs + 3e5,
        tx: '0',
      })),
  ],
  [
    'stale-write',
    'a refusal that was an acceptance',
    /accepted with token .*, while the row|after that lease had expired/,
    3,
    accepted('succeeded'),
  ],
  [
    'stale-write',
    'another token in the row',
    /while the row held no token/,
    3,
    (all) => patch(all, pick('change', { by: 'fn_job_succeed' }), () => ({ tokenWas: null })),
  ],
  [
    'stale-write',
    'a call whose grant was another',
    /which was never granted for it/,
    2,
    (all) =>
      patch(all, pick('invoke', { f: 'fail_permanent' }), ({ args }: Invoke) => ({
        args: { ...args, token: 'x' },
      })),
  ],
  [
    'stale-write',
    'a second ending that was not a repetition',
    /after succeed had ended that lease/,
    3,
    (all) =>
      patch(unlogged(all), pick('ok', { f: 'succeed' }, 1), ({ answer }: Ok) => ({
        answer: { ...answer, already: false },
      })),
  ],
  [
    'token-reuse',
    'a token granted again',
    /was granted to job .*, then to job/,
    2,
    (all) =>
      patch(all, pick('ok', { f: 'claim' }, 2), ({ answer }: Extract<Ok, { f: 'claim' }>) => ({
        answer: {
          jobs: answer.jobs.map((job) => ({
            ...job,
            ...(job.job === c.job && { token: a.token }),
          })),
        },
      })),
  ],
  [
    'token-reuse',
    'a token that the row took on again',
    /was leased under token .* a second time/,
    2,
    (all) => patch(all, pick('change', { token: again.token }), () => ({ token: b.token })),
  ],
  [
    'over-run',
    'a maximum that was lower',
    /was granted 2 times; its maximum is 1/,
    2,
    ([first, ...rest]) => [
      {
        ...(first as Extract<HistoryEvent, { is: 'header' }>),
        config: {
          maxAttempts: { default: 1, byKind: {} },
          ttlSeconds: { default: 1, byKind: {} },
          cadenceMs: 300,
        },
      },
      ...rest,
    ],
  ],
  [
    'over-run',
    'a death that nobody called for',
    /died after 1 of 3 grants/,
    2,
    (all) =>
      patch(
        drop(all, (event) => 'f' in event && event.f === 'fail_permanent'),
        pick('change', { to: 'dead_letter' }),
        () => ({ by: 'fn_job_lease_reaper' }),
      ),
  ],
  [
    'double-terminal',
    'a refusal that was an acceptance',
    /was ended twice: succeed, then succeed/,
    2,
    accepted('succeeded'),
  ],
  [
    'double-terminal',
    'a terminal state that was left',
    /was succeeded, and fn_job_lease_reaper made it retry_waiting/,
    2,
    (all) =>
      swap(
        patch(all, pick('change', { by: 'fn_job_lease_reaper' }), ({ seq }: Change) => ({
          job: a.job,
          from: 'succeeded',
          seq: seq + 100,
        })),
        pick('change', { by: 'fn_job_lease_reaper' }),
        pick('change', { job: a.job, by: 'fn_job_succeed' }),
      ).sort((x, y) => (x.is === 'change' && y.is === 'change' ? x.seq - y.seq : 0)),
  ],
  [
    'double-terminal',
    'a completion that the row does not show',
    /succeed on job .* was accepted as succeeded; the row ends queued/,
    2,
    (all) => patch(all, pick('row', { key: 'a' }), () => ({ status: 'queued' })),
  ],
];
