/**
 * One attempt to write a setting, by hand or by its function: what it does, and what is wrong with
 * what comes of it (§15.5: a mistake in the configuration is never silent).
 */
import type { Session } from '../../types.ts';
import type { Problem } from './search.ts';
import { textLiteral } from './sql_text.ts';
import { refuses } from './shape.ts';
import { undone } from './stage.ts';

export const WRITTEN = 'a bad setting is refused where it is written, or the gap view names it';
export const IN_FORCE = 'a value that is taken is in force';

export type Key = { key: string; default_value: string };
export type Change =
  | { is: 'set'; value: string; bad: boolean }
  | { is: 'null' }
  | { is: 'delete' }
  /** A typo in the key. */
  | { is: 'rename'; to: string };
export type Write = { key: Key; change: Change; byHand: boolean };

export function sqlOf({ key: { key }, change, byHand }: Write): string {
  const of = `where key = ${textLiteral(key)}`;
  if (!byHand) {
    const value = change.is === 'set' ? textLiteral(change.value) : 'null';
    return `select public.fn_job_config_set(${textLiteral(key)}, ${value}, 'tester') as answer`;
  }
  switch (change.is) {
    case 'set':
      return `update public.dot_config set value = ${textLiteral(change.value)} ${of}`;
    case 'null':
      return `update public.dot_config set value = null ${of}`;
    case 'delete':
      return `delete from public.dot_config ${of}`;
    case 'rename':
      return `update public.dot_config set key = ${textLiteral(change.to)} ${of}`;
  }
}

/** Tries it and undoes it. */
export function judgeWrite(session: Session, write: Write): Promise<Problem | undefined> {
  return undone(session, async () => {
    try {
      const [row] = await session.query<{ answer: unknown }>(sqlOf(write));
      if (refuses(row?.answer)) return undefined;
    } catch (error) {
      const { code = '', message } = error as { code?: string; message: string };
      if (write.byHand) return undefined;
      return { breaks: WRITTEN, expected: 'a refusal', seen: `SQLSTATE ${code}: ${message}` };
    }
    return afterwards(session, write);
  });
}

type Standing = { named: boolean; value: string | null; in_force: string };

/** What was taken must be good and in force, or be named. */
async function afterwards(
  session: Session,
  { key: { key, default_value: due }, change }: Write,
): Promise<Problem | undefined> {
  const [standing] = await session.query<Standing>(
    `select exists (select 1 from public.v_job_silent_gap g
                     where g.reason in ('config_missing', 'config_invalid') and g.status = $1) as named,
            c.value, c.in_force
       from public.v_queue_config c where c.key = $1`,
    [key],
  );
  const { named = false, value = null, in_force: inForce = '' } = standing ?? {};
  const good = change.is === 'set' && !change.bad && value === change.value && isOfKind(value, due);
  if (!good && !named)
    return { breaks: WRITTEN, expected: 'a refusal, or a row of the gap view', seen: 'silence' };
  const expected = good ? change.value : due;
  if (inForce === expected) return undefined;
  return { breaks: IN_FORCE, expected, seen: `${inForce} is in force` };
}

/** A value of the same sort as the default: a switch, a whole number, or a word. */
function isOfKind(value: string, like: string): boolean {
  if (like === 'true' || like === 'false') return value === 'true' || value === 'false';
  return /^\d+$/.test(like) ? /^\d{1,10}$/.test(value) : /^[a-z]+$/.test(value);
}
