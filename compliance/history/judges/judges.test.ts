import { describe, expect, test } from 'vitest';
import type { Change, HistoryEvent, Invoke, Ok } from '../events.ts';
import { digest } from '../digest.ts';
import { judgeNames, type JudgeName } from '../finding.ts';
import { judges } from './index.ts';
import { drop, patch, pick, swap, told, unlogged } from './told.ts';

const good = told();
const grants = good.flatMap((event) =>
  event.is === 'ok' && event.f === 'claim' ? event.answer.jobs : [],
);
const [a, b, again, c] = grants as [Grant, Grant, Grant, Grant];
type Grant = (typeof grants)[number];
type Corruption = (events: HistoryEvent[]) => HistoryEvent[];

/** Turns a refusal into an acceptance that led to `to`. */
const accepted =
  (to: string): Corruption =>
  (events) =>
    patch(events, pick('fail', {}), () => ({
      is: 'ok',
      answer: { from: 'leased', to, attempts: 1 },
    }));
const untilOf = (event: Change) => event.untilWasUs ?? 0;
/** The second lease of b begins 0.5 s before the first one ends. */
const early: Corruption = (events) =>
  patch(
    patch(events, pick('change', { job: b.job, token: again.token }), () => ({
      atUs: b.untilUs - 5e5,
    })),
    pick('ok', { f: 'claim' }, 2),
    () => ({ atUs: b.untilUs - 5e5 }),
  );

const corruptions: readonly [JudgeName, string, RegExp, number, Corruption][] = [
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
    'lost',
    'a row dropped',
    /enqueued and is gone/,
    3,
    (all) => drop(all, pick('row', { key: 'a' })),
  ],
  [
    'lost',
    'a dead letter dropped',
    /dead and has no open dead letter/,
    4,
    (all) => drop(all, pick('dead_letter', {})),
  ],
  [
    'lost',
    'every word of its success dropped',
    /counts as succeeded, and no worker said so/,
    4,
    (all) => drop(all, (event) => 'f' in event && event.f === 'succeed' && event.proc === 'w1'),
  ],
  [
    'lost',
    'a state that nobody knows',
    /nobody documented: parked/,
    3,
    (all) => patch(all, pick('row', { key: 'd' }), () => ({ status: 'parked' })),
  ],
  [
    'unexpected',
    'an enqueue dropped',
    /claimed and never enqueued/,
    2,
    (all) => drop(all, (event) => 'f' in event && event.f === 'enqueue'),
  ],
  [
    'unexpected',
    'a claim for another kind',
    /of kind mail was claimed by a call for sync/,
    3,
    (all) =>
      patch(all, pick('invoke', { f: 'claim' }), ({ args }: Invoke) => ({
        args: { ...args, kinds: ['sync'] },
      })),
  ],
  [
    'unexpected',
    'a claim with a smaller limit',
    /at most 1 returned 2 jobs/,
    2,
    (all) =>
      patch(all, pick('invoke', { f: 'claim' }, 2), ({ args }: Invoke) => ({
        args: { ...args, limit: 1 },
      })),
  ],
  [
    'unexpected',
    'a job that was not due',
    /claimed 5\.\d+ s before it was due/,
    3,
    (all) =>
      patch(
        all,
        pick('invoke', { f: 'enqueue' }),
        ({ args }: Extract<Invoke, { f: 'enqueue' }>) => ({
          args: {
            jobs: args.jobs.map((job) => ({
              ...job,
              ...(job.key === 'a' && { dueUs: a.untilUs + 4e6 }),
            })),
          },
        }),
      ),
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
  [
    'order',
    'a waiting job that was better placed',
    /passed over job .*, which has priority 9 against 3/,
    3,
    (all) => patch(all, pick('row', { key: 'd' }), () => ({ priority: 9 })),
  ],
  [
    'order',
    'a waiting job that was older',
    /passed over job .*, which was enqueued earlier/,
    3,
    (all) => patch(all, pick('row', { key: 'd' }), () => ({ priority: 3, enqueuedUs: 1 })),
  ],
  [
    'order',
    'an answer in the wrong order',
    /one claim returned job .* before job .*, which is better placed/,
    2,
    (all) =>
      patch(all, pick('ok', { f: 'claim' }, 2), ({ answer }: Extract<Ok, { f: 'claim' }>) => ({
        answer: { jobs: answer.jobs.toReversed() },
      })),
  ],
  [
    'blocked-claim',
    'a claim that was seen waiting',
    /waited for a transactionid lock of w1-\d+/,
    3,
    (all) => {
      const at = all.findIndex(pick('ok', { f: 'claim', proc: 'w2' }));
      const ns = (all[at] as Ok).ns;
      const seen: HistoryEvent = {
        is: 'blocked',
        pid: 102,
        by: [101],
        running: 'fn_job_claim_batch',
        lock: 'transactionid',
        atUs: 0,
        ns,
      };
      return all.toSpliced(at, 0, seen);
    },
  ],
  [
    'audit-gap',
    'an audit row dropped',
    /made leased→retry_waiting, and the audit lacks it/,
    2,
    (all) => drop(all, pick('audit', { to: 'retry_waiting' })),
  ],
  [
    'audit-gap',
    'a change dropped',
    /the audit shows .*, and the row never made it|the audit lacks it/,
    2,
    (all) => drop(all, pick('change', { to: 'retry_waiting' })),
  ],
  [
    'audit-gap',
    'an audit row doubled',
    /the audit lacks it/,
    2,
    (all) =>
      all.flatMap((event) =>
        event.is === 'audit' && event.to === 'retry_waiting' ? [event, event] : [event],
      ),
  ],
  [
    'audit-gap',
    'an undocumented step',
    /the audit shows queued→succeeded, which no document knows/,
    1,
    (all) => patch(all, pick('audit', { to: 'leased' }), () => ({ to: 'succeeded' })),
  ],
  [
    'audit-gap',
    'a refusal that left no trace',
    /1 calls were refused, and the audit shows 0 refusals/,
    1,
    (all) => drop(all, (event) => event.is === 'audit' && event.refused),
  ],
  [
    'audit-gap',
    'a sweep without its record',
    /answered and has no completion record/,
    2,
    (all) => drop(all, ({ is }) => is === 'sweep'),
  ],
  [
    'audit-gap',
    'a final state that the audit does not lead to',
    /ends queued; replaying its audit gives succeeded/,
    2,
    (all) => patch(all, pick('row', { key: 'a' }), () => ({ status: 'queued' })),
  ],
];

describe('on a valid history', () => {
  test.each(judgeNames)('%s finds nothing and can tell', (name) => {
    expect(judges[name](digest(good))).toMatchObject({ ok: true, undecidable: [] });
  });
  test('the recording is sound', () => {
    expect(digest(good).malformed).toEqual([]);
  });
});

describe('on a corrupted history', () => {
  test.each(corruptions)('%s notices %s', (name, _what, says, lines, corrupt) => {
    const corrupted = corrupt([...good]);
    expect(corrupted).not.toEqual(good);
    const { ok, faults } = judges[name](digest(corrupted));
    expect(ok).toBe(false);
    const fault = faults.find((one) => says.test(one.says));
    expect(faults.map((one) => one.says).join('\n')).toMatch(says);
    expect(fault?.lines).toHaveLength(lines);
  });

  test('every judge has a corruption that it notices', () => {
    expect(new Set(corruptions.map(([name]) => name))).toEqual(new Set(judgeNames));
  });
});
