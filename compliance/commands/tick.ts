/**
 * `dieu45 tick`: one sweep of the reaper and the promoter (contract D15), for cron or systemd. The reaper
 * cannot be a job of the queue: it would need itself to recover its own crashed worker.
 */
import pg from 'pg';
import { KitError, messageOf } from '../errors.ts';
import { exits } from '../verdict/exit.ts';
import type { Io } from './io.ts';

export type TickOptions = {
  /** A postgres:// URL; without it the PG* variables say where the queue is. */
  target?: string;
  /** Rows a call; the sweep goes on until one call ends fewer. */
  limit: number;
};

type Skipped = { job_id: string; sqlstate: string };
type Answer = {
  refused: boolean;
  reason?: string;
  reaped?: number;
  dead_lettered?: number;
  promoted?: number;
  runtime_leases_deleted?: number;
  skipped?: Skipped[];
};

const CONNECT_LIMIT_MS = 10_000;
/** A sweep that hangs would be overtaken by the next one; better to end it and say so. */
const STATEMENT_LIMIT_MS = 120_000;

/**
 * Reaps and promotes until nothing is left to do, and says what it did in one line. Returns 0, or 1 when
 * a call was refused or a row could not be written: cron and systemd then tell somebody.
 * Throws KitError 69 when the queue cannot be reached or the role may not sweep.
 */
export async function tick({ target, limit }: TickOptions, io: Io): Promise<number> {
  const client = new pg.Client({
    ...(target === undefined ? {} : { connectionString: target }),
    application_name: 'dieu45 tick',
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    statement_timeout: STATEMENT_LIMIT_MS,
  });
  client.on('error', () => undefined);
  const abort = (): void => void client.end().catch(() => undefined);
  try {
    await client.connect();
    io.signal.addEventListener('abort', abort, { once: true });
    const reaped = await sweep(client, 'fn_job_lease_reaper', limit);
    const promoted = await sweep(client, 'fn_job_promote_due', limit);
    return report([reaped, promoted], io);
  } catch (error) {
    if (io.signal.aborted) throw io.signal.reason;
    throw unreachable(error);
  } finally {
    io.signal.removeEventListener('abort', abort);
    await client.end().catch(() => undefined);
  }
}

/** Calls until a call does less than its limit; a refusal ends the sweep. */
async function sweep(client: pg.Client, command: string, limit: number): Promise<Answer> {
  const total: Answer = { refused: false, skipped: [] };
  for (;;) {
    const { rows } = await client.query<{ answer: Answer }>(
      `select public.${command}($1) as answer`,
      [limit],
    );
    const answer = rows[0]?.answer ?? { refused: true, reason: 'no answer' };
    if (answer.refused) return { ...total, refused: true, reason: `${command}: ${answer.reason}` };
    for (const key of ['reaped', 'dead_lettered', 'promoted', 'runtime_leases_deleted'] as const) {
      const value = answer[key];
      if (value !== undefined) total[key] = (total[key] ?? 0) + value;
    }
    // A row that is skipped in one call is skipped in the next: the last call names them all.
    total.skipped = answer.skipped ?? [];
    const done = Math.max(
      answer.reaped ?? 0,
      answer.promoted ?? 0,
      answer.runtime_leases_deleted ?? 0,
    );
    if (done < limit) return total;
  }
}

function report(answers: readonly Answer[], io: Io): number {
  const sum = (key: 'reaped' | 'dead_lettered' | 'promoted' | 'runtime_leases_deleted'): number =>
    answers.reduce((total, answer) => total + (answer[key] ?? 0), 0);
  io.out.write(
    `reaped ${sum('reaped')} (${sum('dead_lettered')} dead) · promoted ${sum('promoted')} · ` +
      `runtime leases deleted ${sum('runtime_leases_deleted')}\n`,
  );
  let code: number = exits.passed;
  for (const { refused, reason, skipped } of answers) {
    if (refused) {
      io.err.write(`dieu45: refused: ${reason}\n`);
      code = exits.failed;
    }
    for (const { job_id, sqlstate } of skipped ?? []) {
      io.err.write(`dieu45: job ${job_id} could not be reaped: SQLSTATE ${sqlstate}\n`);
      code = exits.failed;
    }
  }
  return code;
}

function unreachable(error: unknown): KitError {
  if (error instanceof KitError) return error;
  const state = error instanceof pg.DatabaseError ? error.code : undefined;
  const hints: Readonly<Record<string, string>> = {
    '42501': 'the role needs: grant workflow_admin to <role>',
    '42883': 'the queue is not installed in this database: psql -f sql/install.sql',
    '3D000': 'name the database in --target or PGDATABASE',
  };
  return new KitError(
    exits.target,
    `cannot sweep: ${messageOf(error)}${state === undefined ? '' : ` (${state})`}`,
    hints[state ?? ''] ??
      'name the server with --target postgres://user@host/database, or by the PG* variables',
  );
}
