/**
 * What a worker process works with: a connection of its own, and calls that are written to its
 * history before they are sent and after they are answered. Holds no plan.
 */
import pg from 'pg';
import type { Calls, Fn, Ns } from '../../history/calls.ts';
import type { FaultKind, HistoryEvent, Ran } from '../../history/events.ts';
import type { HistoryWriter } from '../../history/file.ts';
import { messageOf } from '../../errors.ts';
import { cutAfterCommit } from './proxy.ts';
import { answerOf, statementOf, type Answered, type Statement } from './statements.ts';

export type Result<F extends Fn> =
  | { end: 'ok'; answer: Calls[F]['answer'] }
  /** Certain to have changed nothing: a refusal's code, or an SQLSTATE. */
  | { end: 'fail'; reason: string }
  | { end: 'info' };

export type HeldClaim = { ms: number; end: 'commit' | 'rollback' };

export type Hands = {
  /** The backend that serves it now. */
  pid: () => number;
  /** One call in a transaction of its own. */
  call: <F extends Fn>(f: F, args: Calls[F]['args']) => Promise<Result<F>>;
  /** The same, by another connection that is cut after the commit and before the answer. */
  callAndCut: <F extends Fn>(f: F, args: Calls[F]['args']) => Promise<Result<F>>;
  /** A claim in a transaction that stays open for a while, before or after it. */
  claimHeld: (args: Calls['claim']['args'], held: HeldClaim) => Promise<Result<'claim'>>;
  claimLate: (args: Calls['claim']['args'], openMs: number) => Promise<Result<'claim'>>;
  /** A sweep during which something strikes, once it is done and before it is committed. */
  sweepStruck: (limit: number, strike: () => void) => Promise<Result<'reap'>>;
  fault: (kind: FaultKind) => void;
  close: () => Promise<void>;
};

export type HandsOf = {
  proc: string;
  url: string;
  role: string;
  writer: HistoryWriter;
  nowNs: () => Ns;
  /** Ends waiting early when the worker is told to stop. */
  pause: (ms: number) => Promise<void>;
};

/** How long a worker tries to reach a server that is down. */
const RECONNECT_LIMIT_MS = 15_000;

/** Connects, and gives what a worker works with. */
export async function openHands(of: HandsOf): Promise<Hands> {
  const { proc, writer, nowNs } = of;
  let ops = 0;
  let link = await reach(of, of.url);
  let broken = false;

  const write = (event: HistoryEvent): void => {
    writer.write(event);
  };
  const ready = async (): Promise<pg.Client> => {
    if (!broken) return link;
    await link.end().catch(() => undefined);
    link = await reach(of, of.url);
    broken = false;
    return link;
  };

  /** Records a call around `run`, whatever comes of it. */
  const recorded = async <F extends Fn>(
    f: F,
    args: Calls[F]['args'],
    client: pg.Client,
    run: (statement: Statement) => Promise<Answered | 'rolled_back'>,
  ): Promise<Result<F>> => {
    const op = `${proc}-${(ops += 1)}`;
    const statement = statementOf(f, args, proc);
    const common = { op, proc, f };
    write({ is: 'invoke', ...common, pid: pidOf(client), ns: nowNs(), args } as HistoryEvent);
    try {
      const answered = await run(statement);
      if (answered === 'rolled_back') {
        write({ is: 'fail', ...common, ns: nowNs(), reason: answered });
        return { end: 'fail', reason: answered };
      }
      const ns = nowNs();
      const ran: Ran = {
        fromUs: Number(answered.from_us),
        atUs: Number(answered.at_us),
        tx: answered.tx,
      };
      const jobs = f === 'enqueue' ? (args as Calls['enqueue']['args']).jobs.length : 0;
      const answer = answerOf(f, answered.answer, jobs);
      if (typeof answer === 'string') {
        write({ is: 'fail', ...common, ...ran, ns, reason: answer });
        return { end: 'fail', reason: answer };
      }
      write({ is: 'ok', ...common, ...ran, ns, answer } as HistoryEvent);
      return { end: 'ok', answer };
    } catch (error) {
      const certain = certainFailure(error);
      if (certain === undefined) {
        broken ||= client === link;
        write({ is: 'info', ...common, ns: nowNs(), because: messageOf(error) });
        return { end: 'info' };
      }
      write({ is: 'fail', ...common, ns: nowNs(), reason: certain });
      return { end: 'fail', reason: certain };
    }
  };

  const call: Hands['call'] = async (f, args) => {
    const client = await ready();
    return recorded(f, args, client, (statement) => answerTo(client, statement));
  };

  return {
    pid: () => pidOf(link),
    call,
    callAndCut: async (f, args) => {
      await using proxy = await cutAfterCommit(of.url);
      const client = await reach(of, proxy.url);
      try {
        return await recorded(f, args, client, async (statement) => {
          proxy.arm();
          return answerTo(client, { ...statement, name: '' });
        });
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    claimHeld: async (args, { ms, end }) => {
      const client = await ready();
      return recorded('claim', { ...args, heldMs: ms }, client, async (statement) => {
        await client.query('begin');
        const answered = await answerTo(client, statement);
        await of.pause(ms);
        await client.query(end);
        return end === 'commit' ? answered : 'rolled_back';
      });
    },
    claimLate: async (args, openMs) => {
      const client = await ready();
      await client.query('begin');
      await client.query('select now()');
      await of.pause(openMs);
      return recorded('claim', args, client, async (statement) => {
        const answered = await answerTo(client, statement);
        await client.query('commit');
        return answered;
      });
    },
    sweepStruck: async (limit, strike) => {
      const client = await ready();
      return recorded('reap', { limit }, client, async (statement) => {
        await client.query('begin');
        await answerTo(client, statement);
        strike();
        await client.query('rollback');
        return 'rolled_back';
      });
    },
    fault: (kind) => {
      write({ is: 'fault', kind, proc, ns: nowNs() });
    },
    close: () => link.end().catch(() => undefined),
  };
}

async function answerTo(client: pg.Client, statement: Statement): Promise<Answered> {
  const { rows } = await client.query<Answered>({ ...statement });
  const [row] = rows;
  if (row === undefined) throw new Error('the statement returned no row');
  return row;
}

/**
 * The code of an error that the server raised with the connection alive: its transaction is rolled
 * back for certain. Undefined when the connection broke, or the server ended the session: a commit
 * may have gone before.
 */
export function certainFailure(error: unknown): string | undefined {
  const { code, detail, severity } = error as { code?: string; detail?: string; severity?: string };
  // Only an error that the server sent has a severity: EPIPE is no SQLSTATE.
  if (code === undefined || severity !== 'ERROR' || /^(08|57P)/.test(code)) return undefined;
  if (code !== 'D4500') return code;
  const { reason } = JSON.parse(detail ?? '{}') as { reason?: string };
  return reason ?? code;
}

async function connect({ proc, role }: HandsOf, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: `dieu45 ${proc}` });
  // The call that was running rejects as well, which is where it is recorded.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`set synchronous_commit = on; set role ${role}`);
  return client;
}

/** Connects; the server may be down for a moment, which is one of the faults. */
async function reach(of: HandsOf, url: string): Promise<pg.Client> {
  const deadline = Date.now() + RECONNECT_LIMIT_MS;
  for (;;) {
    try {
      return await connect(of, url);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await of.pause(50);
    }
  }
}

function pidOf(client: pg.Client): number {
  return (client as unknown as { processID: number }).processID;
}
