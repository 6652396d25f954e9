/** Histories that are corrupted in what they tell of jobs, order and audit: each judge must notice. */
import type { HistoryEvent, Invoke, Ok } from '../events.ts';
import { drop, grantsOf, patch, pick, told } from './told.ts';
import type { Corruption } from './told.ts';

const [a, , , c] = grantsOf(told());

export const corruptedRecords: readonly Corruption[] = [
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
    'audit-replay',
    'a final state that the audit does not lead to',
    /ends queued after 1 attempts; replaying its audit gives succeeded after 1 attempts/,
    2,
    (all) => patch(all, pick('row', { key: 'a' }), () => ({ status: 'queued' })),
  ],
  [
    'audit-replay',
    'attempts that the audit does not show',
    /ends succeeded after 7 attempts; replaying its audit gives succeeded after 1/,
    2,
    (all) => patch(all, pick('row', { key: 'a' }), () => ({ attempts: 7 })),
  ],
  [
    'silent-reap',
    'a warning dropped',
    /1 times cause for queue_lease_reaped, and 0 such warnings/,
    1,
    (all) => drop(all, pick('emitted', { type: 'queue_lease_reaped' })),
  ],
  [
    'silent-reap',
    'a death that was only a notice',
    /1 times cause for queue_job_dead_lettered, and 0 such warnings/,
    1,
    (all) => patch(all, pick('emitted', { job: c.job }), () => ({ severity: 'notice' })),
  ],
  [
    'double-enqueue',
    'two rows of one key',
    /key a made two jobs/,
    3,
    (all) => patch(all, pick('row', { key: 'b' }), () => ({ key: 'a' })),
  ],
  [
    'double-enqueue',
    'two answers that both created',
    /two enqueues of key a were both told/,
    1,
    (all) =>
      patch(
        all,
        pick('invoke', { f: 'enqueue' }),
        ({ args }: Extract<Invoke, { f: 'enqueue' }>) => ({
          args: {
            jobs: args.jobs.map((job) => ({ ...job, ...(job.key === 'b' && { key: 'a' }) })),
          },
        }),
      ),
  ],
  [
    'raw-error',
    'a deadlock in place of an answer',
    /succeed w2-\d+ on job .* raised 40P01/,
    2,
    (all) => patch(all, pick('fail', {}), () => ({ reason: '40P01' })),
  ],
];
