/**
 * One call, tried and undone: what it answered or raised, which tables it changed, and which refusals
 * it recorded. Everything happens inside a subtransaction that is always rolled back, so each value
 * meets the same queue, and the smallest counterexample fails as the first one did.
 */
import type { Session } from '../../types.ts';
import { CoverageError } from '../../errors.ts';
import { nameSql } from './sql_text.ts';

export type Attempt = {
  /** The answer; unset when it raised. */
  answer?: unknown;
  raised?: { sqlstate: string; message: string; detail: string | null };
  /** Table → digest of its rows after the call; the audit is not among them. */
  state: State;
  /** Reasons of the refusals that it recorded, in order. */
  recorded: readonly string[];
};
export type State = Readonly<Record<string, string>>;

const AUDIT = 'dot_iu_command_run';

/** Plants what `attempt` needs, inside the session's transaction. Answers with the state as it is. */
export async function prepareAttempts(session: Session): Promise<State> {
  const tables = await session.query<{ schema: string; name: string }>(TABLES, [AUDIT]);
  if (tables.length === 0) throw new CoverageError('the queue has no table');
  await session.query('create schema kit');
  await session.query(stateFunction(tables.map(({ schema, name }) => nameSql(schema, name))));
  await session.query(ATTEMPT);
  return stateOf(session);
}

/** The rows of every table but the audit, as digests. */
export async function stateOf(session: Session): Promise<State> {
  const [row] = await session.query<{ state: State }>('select kit.state() as state');
  return row?.state ?? {};
}

/** Tries a query of one jsonb. */
export async function attempt(session: Session, query: string): Promise<Attempt> {
  const [row] = await session.query<{ seen: Omit<Attempt, 'raised'> & Raised }>(
    'select kit.attempt($1) as seen',
    [query],
  );
  if (row === undefined) throw new Error('kit.attempt gave no row');
  const { sqlstate, message, detail, ...seen } = row.seen;
  if (sqlstate === undefined) return seen;
  return { ...seen, raised: { sqlstate, message: message ?? '', detail: detail ?? null } };
}
type Raised = { sqlstate?: string; message?: string; detail?: string | null };

/** An error that is no refusal, or undefined. */
export function rawError({ raised }: Attempt): string | undefined {
  if (raised === undefined || raised.sqlstate === 'D4500') return undefined;
  return `SQLSTATE ${raised.sqlstate}: ${raised.message}`;
}

/** The tables that differ. */
export function changes(before: State, after: State): string[] {
  return Object.keys({ ...before, ...after }).filter((table) => before[table] !== after[table]);
}

const TABLES = `
  select n.nspname::text as schema, c.relname::text as name
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where c.relkind = 'r'
     and n.nspname in ('public', 'dot_queue')
     and c.relname <> $1
   order by 1, 2`;

function stateFunction(tables: readonly string[]): string {
  const digests = tables.map(
    (table) =>
      `'${table}', (select md5(coalesce(string_agg(t::text, '|' order by t::text collate "C"), '')) from ${table} t)`,
  );
  return `create function kit.state() returns jsonb language sql volatile as $kit$ select jsonb_build_object(${digests.join(', ')}) $kit$`;
}

/** The variables survive the rollback of the block; the changes do not. */
const ATTEMPT = `
  create function kit.attempt(p_query text) returns jsonb language plpgsql volatile as $kit$
  declare
    v_from bigint := (select coalesce(max(r.run_seq), 0) from public.${AUDIT} r);
    v_answer jsonb;
    v_detail text;
    v_seen jsonb;
  begin
    begin
      begin
        execute p_query into v_answer;
        v_seen := jsonb_build_object('answer', v_answer);
      exception when others then
        get stacked diagnostics v_detail = pg_exception_detail;
        v_seen := jsonb_build_object('sqlstate', sqlstate, 'message', sqlerrm, 'detail', v_detail);
      end;
      v_seen := v_seen || jsonb_build_object(
        'state', kit.state(),
        'recorded', (select coalesce(jsonb_agg(r.reason order by r.run_seq), '[]')
                       from public.${AUDIT} r
                      where r.run_seq > v_from
                        and r.refused));
      raise exception using errcode = 'KIT00';
    exception when sqlstate 'KIT00' then
      return v_seen;
    end;
  end
  $kit$`;
