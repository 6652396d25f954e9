/**
 * One life of the queue, called step by step in a session, and what every step answered in a form
 * that two sessions can be compared by: ids as they first appear, times as "a time".
 */
import type { Session } from '../../types.ts';
import { nameSql } from './sql_text.ts';

export type Step = { as?: string | undefined; sql: string };
/** What a step answered, as one line. */
export type Told = { sql: string; answer: string };

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d(?::\d\d)*|Z)/g;

/** Performs the steps in the session's open transaction. A step that raises is undone by itself. */
export async function perform(session: Session, steps: readonly Step[]): Promise<Told[]> {
  const ids = new Map<string, string>();
  const plain = (text: string): string =>
    text.replaceAll(TIME, 'a time').replaceAll(UUID, (id) => {
      const known = ids.get(id) ?? `id ${ids.size + 1}`;
      ids.set(id, known);
      return known;
    });
  const told: Told[] = [];
  for (const { as, sql } of steps) {
    await session.query(
      `savepoint step; set local role ${as === undefined ? 'none' : nameSql(as)}`,
    );
    const answer = await answerOf(session, sql);
    await session.query('set local role none');
    told.push({ sql, answer: plain(answer) });
  }
  return told;
}

/** The rows as JSON, which the server writes alike under every DateStyle; or the error. */
async function answerOf(session: Session, sql: string): Promise<string> {
  try {
    const [row] = await session.query<{ rows: unknown }>(
      `select pg_catalog.jsonb_agg(pg_catalog.to_jsonb(r)) as rows from (${sql}) r`,
    );
    return JSON.stringify(row?.rows ?? null);
  } catch (error) {
    await session.query('rollback to savepoint step');
    const { code, detail, message } = error as { code?: string; detail?: string; message: string };
    if (code === undefined) throw error;
    return code === 'D4500' ? `D4500 ${String(detail)}` : `SQLSTATE ${code}: ${message}`;
  }
}

/** The first step that two lives answered differently, or undefined. */
export function difference(
  calm: readonly Told[],
  other: readonly Told[],
): { sql: string; expected: string; seen: string } | undefined {
  for (const [index, { sql, answer }] of calm.entries()) {
    const seen = other[index]?.answer ?? 'nothing';
    if (seen !== answer) return { sql, expected: answer, seen };
  }
  return undefined;
}
