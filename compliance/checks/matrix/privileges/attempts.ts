/** Attempts: a statement really run as a role, and undone. */
import type { Session } from '../../../types.ts';
import type { RelationFound } from './catalog.ts';
import type { Verb } from './schema.ts';

export type Attempt = { role: string; sql: string };
/**
 * `done`; `denied` (42501); `impossible`, where the object cannot do such a thing for anybody (a view
 * that cannot be written, a column that is always generated); `refused`, by the function itself; otherwise what was raised.
 */
export type Result = string;

export async function openAttempts(session: Session): Promise<void> {
  await session.query(ATTEMPT);
}

/** Runs every attempt, each undone at once. Needs a session that may `set role` to all of them. */
export async function attemptAll(
  session: Session,
  attempts: readonly Attempt[],
): Promise<Result[]> {
  const rows = await session.query<{ result: Result }>(
    `select pg_temp.attempt(a.attempt ->> 'role', a.attempt ->> 'sql') as result
       from jsonb_array_elements($1::jsonb) with ordinality a(attempt, place)
      order by a.place`,
    [JSON.stringify(attempts)],
  );
  return rows.map(({ result }) => result);
}

/** Whether the role got past the privilege check. */
export function passed(result: Result): boolean {
  return result !== 'denied' && result !== 'impossible';
}

/** One statement for each way of writing that a privilege by column could allow, too. */
export function writes({ schema, name, kind, columns }: RelationFound, verb: Verb): string[] {
  const relation = `"${schema}"."${name}"`;
  switch (verb) {
    case 'select':
      return columns.map((column) => `select "${column}" from ${relation} limit 1`);
    case 'insert':
      return [`insert into ${relation} default values`];
    case 'update':
      return columns.map((column) => `update ${relation} set "${column}" = default where false`);
    case 'delete':
      return [`delete from ${relation} where false`];
    case 'truncate':
      return kind === 'table' ? [`truncate ${relation}`] : [];
  }
}

const ATTEMPT = `
  create or replace function pg_temp.attempt(p_role text, p_sql text)
  returns text
  language plpgsql
  as $attempt$
  begin
    perform set_config('role', p_role, true);
    execute p_sql;
    raise exception using errcode = 'D45UN';
  exception
    when sqlstate 'D45UN' then
      return 'done';
    when insufficient_privilege then
      return 'denied';
    when object_not_in_prerequisite_state or feature_not_supported or generated_always then
      return 'impossible';
    when sqlstate 'D4500' then
      return 'refused';
    when others then
      return format('raised %s: %s', sqlstate, sqlerrm);
  end
  $attempt$`;
