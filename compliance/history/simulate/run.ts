/**
 * A whole run in virtual time: producers, claimers and a reaper against the queue in memory, with
 * lost answers, killed workers and zombies. Every history it makes is valid, whatever the seed.
 */
import type { Calls, Fn, LeaseCall, Ns } from '../calls.ts';
import type { Header, HistoryEvent, Invoke, Ok } from '../events.ts';
import { random, type Random } from '../random.ts';
import { queue, type Queue } from './queue.ts';

export type Shape = {
  seed: number;
  jobs: number;
  claimers: number;
  /** How often a call's answer is lost or its process dies, in [0, 1). */
  trouble: number;
};

const kinds = ['mail', 'report', 'sync'] as const;
const startUs = 1_800_000_000_000_000;
const config: Header['config'] = {
  maxAttempts: { default: 3, byKind: { sync: 2 } },
  ttlSeconds: { default: 1, byKind: {} },
  cadenceMs: 300,
};

/** What a simulated process asks of the queue, and what it does with the answer. */
type Wish<F extends Fn = Fn> = {
  f: F;
  args: Calls[F]['args'];
  /** Null: refused. */
  then?: (answer: Calls[F]['answer'] | null) => void;
};
type Actor = { proc: string; pid: number; wishes: Wish[]; idle(): Wish | Ns | 'done' };
type Action = { ns: Ns; run(): void };

/** The events of a run, header first and end last. */
export function* simulate(shape: Shape): Generator<HistoryEvent> {
  const rnd = random(shape.seed, 'simulate');
  const model = queue(config, rnd);
  const out: HistoryEvent[] = [];
  const actions: Action[] = [];
  let [ops, txs, pids, now] = [0, 0, 100, 0];
  const world: World = { produced: 0, calm: false, nowNs: 0 };

  const at = (ns: Ns, run: () => void): void => {
    actions.push({ ns, run });
  };
  const step = (actor: Actor): void => {
    const wish = actor.wishes.shift() ?? actor.idle();
    if (wish === 'done') return;
    if (typeof wish === 'number')
      at(now + wish, () => {
        step(actor);
      });
    else perform(actor, wish);
  };

  /** Invocation, effect, outcome: three moments, with others' in between. */
  const perform = (actor: Actor, wish: Wish): void => {
    const { proc, pid } = actor;
    const op = `${proc}-${(ops += 1)}`;
    out.push({ is: 'invoke', op, proc, pid, ns: now, f: wish.f, args: wish.args } as Invoke);
    const lost = !world.calm && rnd.chance(shape.trouble);
    const fromUs = startUs + Math.ceil(now / 1000);
    at(now + rnd.int(50, 400) * 1000, () => {
      const tx = String((txs += 1));
      const atUs = startUs + Math.round(now / 1000);
      const happens = !lost || rnd.chance(0.5);
      const answer = happens ? effect(model, wish, { by: nameOf(wish), tx, nowUs: atUs }) : null;
      at(now + rnd.int(10, 200) * 1000, () => {
        const common = { op, proc, f: wish.f, ns: now };
        if (lost) {
          out.push({ is: 'info', ...common, because: 'the answer was lost' });
          out.push({ is: 'gone', pid, ns: now });
          actor.pid = pids += 1;
          actor.wishes.length = 0;
        } else if (typeof answer === 'string') {
          out.push({ is: 'fail', ...common, fromUs, atUs, tx, reason: answer });
          wish.then?.(null);
        } else {
          out.push({ is: 'ok', ...common, fromUs, atUs, tx, answer } as Ok);
          wish.then?.(answer as never);
        }
        step(actor);
      });
    });
  };

  const actors: Actor[] = [
    producer(shape, rnd, world, model),
    reaper(world, model),
    ...Array.from({ length: shape.claimers }, (_, index) => claimer(index, rnd, world, model)),
  ];
  yield header(shape);
  for (const actor of actors) {
    actor.pid = pids += 1;
    step(actor);
  }
  let lines = 1;
  for (let action = earliest(actions); action !== undefined; action = earliest(actions)) {
    world.nowNs = now = action.ns;
    action.run();
    lines += out.length;
    yield* out.splice(0);
  }
  const finals = model.finals();
  yield* finals;
  yield { is: 'end', lines: lines + finals.length };
}

function header({ seed }: Shape): Header {
  return { is: 'header', version: 1, scenario: 'simulated', seed, config, server: {} };
}

/** Takes the next action; there are only as many as actors. */
function earliest(actions: Action[]): Action | undefined {
  let least = 0;
  for (let index = 1; index < actions.length; index += 1)
    if ((actions[index]?.ns ?? 0) < (actions[least]?.ns ?? 0)) least = index;
  return actions.splice(least, 1)[0];
}

function nameOf({ f, args }: Wish): string {
  if (f === 'claim')
    return (args as Calls['claim']['args']).limit > 1 ? 'fn_job_claim_batch' : 'fn_job_claim';
  if (f === 'reap') return 'fn_job_lease_reaper';
  if (f === 'renew') return 'fn_job_lease_renew';
  return `fn_job_${f}`;
}

/** A refusal's code, or the answer. */
function effect(model: Queue, { f, args }: Wish, call: Parameters<Queue['reap']>[1]): unknown {
  switch (f) {
    case 'enqueue':
      return {
        results: (args as Calls['enqueue']['args']).jobs.map((job) => model.enqueue(job, call)),
      };
    case 'claim': {
      const { kinds: wanted, limit } = args as Calls['claim']['args'];
      return { jobs: model.claim(wanted, limit, config.ttlSeconds.default, call) };
    }
    case 'reap':
      return model.reap((args as Calls['reap']['args']).limit, call);
    default: {
      const { job, token } = args as Calls['progress']['args'];
      return model.lease(f as LeaseCall, job, token, call);
    }
  }
}

type World = { produced: number; calm: boolean; nowNs: Ns };

function producer(shape: Shape, rnd: Random, world: World, model: Queue): Actor {
  const idle = (): Wish | Ns | 'done' => {
    if (world.produced >= shape.jobs) {
      world.calm = true;
      return 'done';
    }
    if (model.backlog() > 60) return 5e5;
    const jobs = Array.from(
      { length: Math.min(rnd.int(1, 8), shape.jobs - world.produced) },
      () => ({
        key: `job-${(world.produced += 1)}`,
        kind: rnd.pick(kinds),
        priority: rnd.int(0, 2),
      }),
    );
    return { f: 'enqueue', args: { jobs } };
  };
  return { proc: 'producer', pid: 0, wishes: [], idle };
}

function reaper(world: World, model: Queue): Actor {
  let rest = false;
  const idle = (): Wish | Ns | 'done' => {
    if (world.calm && model.isDrained()) return 'done';
    rest = !rest;
    return rest ? config.cadenceMs * 1e6 : { f: 'reap', args: { limit: 1000 } };
  };
  return { proc: 'reaper', pid: 0, wishes: [], idle };
}

function claimer(index: number, rnd: Random, world: World, model: Queue): Actor {
  const zombies: { wish: Wish; sinceNs: Ns }[] = [];
  let found = true;
  const actor: Actor = {
    proc: `worker-${index}`,
    pid: 0,
    wishes: [],
    idle: () => {
      if (world.calm && model.isDrained()) return 'done';
      // After an empty claim it waits, as a worker does.
      if (!found || rnd.chance(0.2)) {
        found = true;
        return rnd.int(5, 20) * 1e6;
      }
      const wanted = kinds.filter(() => rnd.chance(0.7));
      const args = {
        kinds: wanted.length > 0 ? wanted : ['mail'],
        limit: rnd.pick([1, 1, 4]),
        ttlSeconds: null,
      };
      return {
        f: 'claim',
        args,
        then: (answer) => {
          work(answer as Calls['claim']['answer'] | null);
        },
      };
    },
  };
  const work = (answer: Calls['claim']['answer'] | null): void => {
    found = (answer?.jobs.length ?? 0) > 0;
    for (const { job, token } of answer?.jobs ?? []) {
      const args = { job, token };
      if (!world.calm && rnd.chance(0.02)) {
        // A zombie: silent until its lease is long over, then it speaks again.
        const f: Fn = rnd.pick(['succeed', 'renew', 'progress']);
        const wish: Wish = { f, args: { ...args, ttlSeconds: null } };
        zombies.push({ wish, sinceNs: world.nowNs });
        continue;
      }
      if (rnd.chance(0.5)) actor.wishes.push({ f: 'progress', args });
      if (rnd.chance(0.2)) actor.wishes.push({ f: 'renew', args: { ...args, ttlSeconds: null } });
      const end: Fn = rnd.pick([
        'succeed',
        'succeed',
        'succeed',
        'succeed',
        'fail_transient',
        'fail_permanent',
      ]);
      actor.wishes.push({ f: end, args });
      if (rnd.chance(0.1)) actor.wishes.push({ f: end, args });
    }
    const [oldest] = zombies;
    if (oldest === undefined || world.nowNs - oldest.sinceNs < 1.2e9) return;
    zombies.shift();
    actor.wishes.push(oldest.wish);
  };
  return actor;
}
