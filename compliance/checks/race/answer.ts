/** What a server answers to one statement, as plain JSON that can be compared and shown. */
import pg from 'pg';
import { messageOf } from '../../errors.ts';
import type { Session } from '../../types.ts';
import { bind, type Json, type Variables } from './variables.ts';

/**
 * `value` is the JSON itself when the answer is one row with one jsonb column, as most functions of
 * the contract answer; otherwise the list of rows. `skipped`: its transaction had failed before.
 */
export type Answer =
  | { is: 'value'; value: Json }
  | { is: 'error'; code: string; message: string; detail: Json }
  | { is: 'skipped' };

const JSONB = 3802;
const INT8 = 20;
// As text: a JavaScript date would drop the microseconds.
const AS_TEXT = new Set([1082, 1083, 1114, 1184, 1186, 1266]);

type Parser = (oid: number, format?: 'text' | 'binary') => unknown;
const asUsual = pg.types.getTypeParser as Parser;

/** Types as `pg` reads them, but times stay text and whole numbers are numbers. */
const parser: Parser = (oid, format) => {
  if (AS_TEXT.has(oid)) return (text: string) => text;
  return oid === INT8 ? Number : asUsual(oid, format);
};
const types = { getTypeParser: parser as pg.CustomTypesConfig['getTypeParser'] };

/** Runs one statement. An error of the server is an answer too; anything else is thrown. */
export async function ask(session: Session, sql: string, variables: Variables): Promise<Answer> {
  const { text, values } = bind(sql, variables);
  try {
    const { rows, fields } = await session.client.query<Record<string, Json>>({
      text,
      values,
      types,
    });
    const [only] = fields;
    const [row] = rows;
    const single = fields.length === 1 && only?.dataTypeID === JSONB && rows.length === 1;
    return { is: 'value', value: single && row ? (row[only.name] ?? null) : rows };
  } catch (error) {
    return errorAnswer(error);
  }
}

function errorAnswer(error: unknown): Answer {
  const { code, detail } = error as { code?: unknown; detail?: unknown };
  if (!(error instanceof pg.DatabaseError) || typeof code !== 'string') throw error;
  return { is: 'error', code, message: messageOf(error), detail: jsonOrNull(detail) };
}

/** Our refusals carry JSON in DETAIL; the server's own details are prose and are left out. */
function jsonOrNull(detail: unknown): Json {
  if (typeof detail !== 'string' || !detail.startsWith('{')) return null;
  try {
    return JSON.parse(detail) as Json;
  } catch {
    return null;
  }
}

/**
 * Reads what a statement wants to remember, from the first row; from the list itself where the path
 * begins with a number. A path that leads nowhere is null.
 */
export function captured(answer: Answer, capture: Readonly<Record<string, string>>): Variables {
  const value = answer.is === 'value' ? answer.value : null;
  const root = (path: string): Json =>
    isList(value) && !/^\d/.test(path) ? (value[0] ?? null) : value;
  return Object.fromEntries(
    Object.entries(capture).map(([name, path]) => [name, follow(root(path), path.split('.'))]),
  );
}

function follow(value: Json, path: readonly string[]): Json {
  let here = value;
  for (const step of path) {
    if (here === null || typeof here !== 'object') return null;
    here = (here as Readonly<Record<string, Json>>)[step] ?? null;
  }
  return here;
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * Whether an answer contains what is wanted: of an object the keys that are named, of a list exactly
 * as many items. `:name` stands for a variable.
 */
export function contains(seen: Json, wanted: Json, variables: Variables): boolean {
  if (typeof wanted === 'string' && /^:[a-z_]\w*$/.test(wanted))
    return seen !== null && seen === variables[wanted.slice(1)];
  if (wanted === null || typeof wanted !== 'object') return seen === wanted;
  if (seen === null || typeof seen !== 'object') return false;
  if (isList(wanted)) {
    return (
      isList(seen) &&
      seen.length === wanted.length &&
      wanted.every((item, index) => contains(seen[index] ?? null, item, variables))
    );
  }
  const object = seen as Readonly<Record<string, Json>>;
  return Object.entries(wanted).every(([key, value]) =>
    contains(object[key] ?? null, value, variables),
  );
}

/** An answer on one line, for people. */
export function show(answer: Answer): string {
  switch (answer.is) {
    case 'skipped':
      return 'skipped: its transaction had failed';
    case 'error':
      return `error ${answer.code}: ${answer.detail === null ? answer.message : JSON.stringify(answer.detail)}`;
    case 'value':
      return showValue(answer.value);
  }
}

function showValue(value: Json): string {
  if (isList(value) && value.length === 0) return 'no row';
  return JSON.stringify(isList(value) && value.length === 1 ? value[0] : value);
}
