/**
 * A history told step by step, for tests: each call runs against the queue in memory, alone, and
 * takes a millisecond, a microsecond after the one before.
 */
import type { Calls, Fn, Granted, LeaseCall, NewJob } from '../calls.ts';
import type { Header, HistoryEvent } from '../events.ts';
import { random } from '../random.ts';
import { queue } from './queue.ts';

const startUs = 1_800_000_000_000_000;
const header: Header = {
  is: 'header',
  version: 1,
  scenario: 'told',
  seed: 1,
  config: {
    maxAttempts: { default: 3, byKind: {} },
    ttlSeconds: { default: 1, byKind: {} },
    cadenceMs: 300,
  },
  server: {},
};

export type Script = ReturnType<typeof script>;

/** Begins a history. */
export function script() {
  const model = queue(header.config, random(1, 'script'));
  const events: HistoryEvent[] = [header];
  let [now, ops] = [0, 0];
  const pids = new Map<string, number>();

  const tell = <F extends Fn>(
    proc: string,
    f: F,
    by: string,
    args: Calls[F]['args'],
    effect: (call: { by: string; tx: string; nowUs: number }) => Calls[F]['answer'] | string,
    lost = false,
  ): Calls[F]['answer'] | null => {
    const pid = pids.get(proc) ?? pids.size + 100;
    pids.set(proc, pid);
    const [op, tx] = [`${proc}-${(ops += 1)}`, String(ops)];
    now += 1e3;
    const nowUs = startUs + now / 1000 + 500;
    const answer = effect({ by, tx, nowUs });
    const common = { op, proc, f };
    events.push({ is: 'invoke', pid, args, ns: now, ...common } as unknown as HistoryEvent);
    now += 1e6;
    const ran = { ns: now, fromUs: nowUs - 300, atUs: nowUs + 100, tx };
    if (lost) events.push({ is: 'info', ...common, ns: now, because: 'the answer was lost' });
    else if (typeof answer === 'string')
      events.push({ is: 'fail', ...common, ...ran, reason: answer });
    else events.push({ is: 'ok', ...common, ...ran, answer } as unknown as HistoryEvent);
    return lost || typeof answer === 'string' ? null : answer;
  };

  return {
    wait: (ms: number): void => {
      now += ms * 1e6;
    },
    enqueue: (...jobs: NewJob[]): void => {
      tell('producer', 'enqueue', 'fn_job_enqueue_batch', { jobs }, (call) => ({
        results: jobs.map((job) => model.enqueue(job, call)),
      }));
    },
    claim: (proc: string, kinds: readonly string[], limit = 1): readonly Granted[] =>
      tell(proc, 'claim', 'fn_job_claim_batch', { kinds, limit, ttlSeconds: 1 }, (call) => ({
        jobs: model.claim(kinds, limit, 1, call),
      }))?.jobs ?? [],
    /** A claim whose answer was lost: what it granted, nobody knows. */
    loseClaim: (proc: string, kinds: readonly string[]): void => {
      const args = { kinds, limit: 1, ttlSeconds: 1 };
      const take = (call: { by: string; tx: string; nowUs: number }): Calls['claim']['answer'] => ({
        jobs: model.claim(kinds, 1, 1, call),
      });
      tell(proc, 'claim', 'fn_job_claim', args, take, true);
      events.push({ is: 'gone', pid: pids.get(proc) ?? 0, ns: now });
    },
    call: (proc: string, f: LeaseCall, { job, token }: { job: string; token: string }): void => {
      const by = f === 'renew' ? 'fn_job_lease_renew' : `fn_job_${f}`;
      tell(proc, f, by, { job, token, ttlSeconds: 1 }, (call) => model.lease(f, job, token, call));
    },
    reap: (): void => {
      tell('reaper', 'reap', 'fn_job_lease_reaper', { limit: 1000 }, (call) =>
        model.reap(1000, call),
      );
    },
    /** Everything told so far, the final reads, and the end. */
    end: (): HistoryEvent[] => sealed([...events, ...model.finals()]),
  };
}

/** The events with a true end line: so that a corruption shows by itself, not by the count. */
export function sealed(events: readonly HistoryEvent[]): HistoryEvent[] {
  const rest = events.filter(({ is }) => is !== 'end');
  return [...rest, { is: 'end', lines: rest.length }];
}
