/**
 * Runs the steps of a suite on one connection and reads what they print as TAP.
 *
 * The first statement that raises ends the suite: what comes after it would run in an aborted
 * transaction and prove nothing.
 */
import type pg from 'pg';
import { lineAndColumn } from '../../substrate/position.ts';
import type { Where } from '../../types.ts';
import type { Step } from './script.ts';
import { tapReader, type TapReport } from './tap.ts';

/** What PostgreSQL said when a statement raised, and where that statement stands. */
export type Stopped = { at: Where; code: string; message: string };
export type SuiteRun = {
  report: TapReport;
  /** The TAP as psql would have printed it. */
  output: readonly string[];
  stopped?: Stopped;
};
export type SuiteOptions = {
  signal: AbortSignal;
  /** Called for each line as it arrives. */
  onLine?: (line: string) => void;
};

/** @throws what the driver throws when the connection itself is lost, and the signal's reason. */
export async function runSuite(
  client: Pick<pg.ClientBase, 'query'>,
  steps: readonly Step[],
  { signal, onLine }: SuiteOptions,
): Promise<SuiteRun> {
  const tap = tapReader();
  const output: string[] = [];
  const emit = (text: string, at: Where): void => {
    for (const line of text.split('\n')) {
      output.push(line);
      onLine?.(line);
      tap.line(line, at);
    }
  };
  for (const step of steps) {
    signal.throwIfAborted();
    if (step.is === 'echo') {
      emit(step.text, step.at);
      continue;
    }
    try {
      for (const row of await rowsOf(client, step.sql)) emit(row, step.at);
    } catch (thrown) {
      if (!isServerError(thrown)) throw thrown;
      const stopped = {
        at: errorPlace(step, thrown.position),
        code: thrown.code,
        message: thrown.message,
      };
      return { report: tap.end(), output, stopped };
    }
  }
  return { report: tap.end(), output };
}

/** A statement's rows as psql prints them unaligned and without headings. */
async function rowsOf(client: Pick<pg.ClientBase, 'query'>, sql: string): Promise<string[]> {
  const asText = { getTypeParser: () => (value: unknown) => value };
  const result: unknown = await client.query<unknown[]>({
    text: sql,
    rowMode: 'array',
    types: asText,
  });
  // A variable may hold several statements; the driver then answers with a list of results.
  const results = (Array.isArray(result) ? result : [result]) as pg.QueryArrayResult<unknown[]>[];
  return results.flatMap(({ rows }) =>
    rows.map((row) => row.map((value) => (typeof value === 'string' ? value : '')).join('|')),
  );
}

type ServerError = Error & { code: string; position?: string };

function isServerError(thrown: unknown): thrown is ServerError {
  if (!(thrown instanceof Error) || !('code' in thrown)) return false;
  // A lost connection also carries a code (ECONNRESET, or class 57P); that is not the suite's doing.
  const { code } = thrown;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('57P');
}

/** The line of the error where the server knows it, the statement's first line where not. */
function errorPlace(step: Step & { is: 'sql' }, position: string | undefined): Where {
  const { line, col } = lineAndColumn(step.sql, Number(position ?? 1));
  const { at } = step;
  return { ...at, line: at.line + line - 1, col: line === 1 ? at.col + col - 1 : col };
}
