/**
 * A trial: one call, tried and undone, and everything that came of it. Many run in one query, so
 * that a matrix of hundreds of cells takes about a second.
 *
 * Every table of the database is hashed before and after, whatever it is called, in two parts: the
 * rows that name the job the call is about, and all others. The audit is told apart: rows that were
 * there before are hashed too, and new ones are returned as they are.
 */
import type { Session } from '../../types.ts';
import type { Json, JsonObject } from './json.ts';

export type Trial = {
  /** SQL that comes before, within what is undone. */
  arrange?: readonly string[];
  /** The call: a query of one jsonb value. */
  call: string;
  /** The id of the job that the call is about; unset: of none. */
  about?: string;
  /** A query of one jsonb value, asked after the call. */
  look?: string;
};

export type AuditRow = Readonly<
  Record<'command' | 'actor' | 'job_id' | 'status_from' | 'status_to' | 'reason', string | null>
> & { refused: boolean; attempt: number | null; session_role: string };

export type Outcome = {
  /** The answer; for a refusal that was raised (D4500) the object in its detail. */
  answer: Json;
  /** `D4500` and the like when the call raised. */
  raised?: string;
  /** The server's words when it raised something that is no refusal. */
  error?: string;
  /** Tables in which rows about the job changed; without their schema where that is public. */
  changed: string[];
  /** Tables in which any other row changed, old audit rows included. */
  elsewhere: string[];
  audit: AuditRow[];
  looked: Json;
};

type Raw = {
  answer: Json;
  sqlstate: string | null;
  message: string | null;
  detail: string | null;
  /** Table → the hash of the rows about the job, and of all others. */
  before: Readonly<Record<string, Hashes>> | null;
  after: Readonly<Record<string, Hashes>> | null;
  audit: AuditRow[] | null;
  looked: Json;
};
type Hashes = readonly [about: string | null, others: string | null];

/** Makes `pg_temp.state` and `pg_temp.trials` in this session; needs the tables to be there. */
export async function openTrials(session: Session): Promise<void> {
  const tables = await session.query<{ relation: string; name: string }>(TABLES);
  await session.query(stateFunction(tables));
  await session.query(TRIALS);
}

/** Runs the trials in order, each undone before the next. The transaction stays as it was. */
export async function tryAll(session: Session, trials: readonly Trial[]): Promise<Outcome[]> {
  const rows = await session.query<{ raw: Raw }>(
    'select t.raw from pg_temp.trials($1::jsonb) t(raw)',
    [JSON.stringify(trials)],
  );
  return rows.map(({ raw }) => outcomeOf(raw));
}

/** The reason of a refusal, `done`, or what the server raised. */
export function verdictOf({ answer, error }: Outcome): string {
  if (error !== undefined) return error;
  const { refused, reason } = (answer ?? {}) as JsonObject;
  return refused === true && typeof reason === 'string' ? reason : 'done';
}

/** An audit row in short: `leased>in_progress`, or `refused not_leased`. */
export function auditText({ refused, reason, status_from, status_to }: AuditRow): string {
  return refused ? `refused ${reason ?? '?'}` : `${status_from ?? 'null'}>${status_to ?? 'null'}`;
}

function outcomeOf(raw: Raw): Outcome {
  const refusal = raw.sqlstate === 'D4500' ? parsed(raw.detail) : undefined;
  const failed = raw.sqlstate !== null && refusal === undefined;
  return {
    answer: refusal ?? raw.answer,
    ...(raw.sqlstate === null ? {} : { raised: raw.sqlstate }),
    ...(failed ? { error: `raw error ${raw.sqlstate ?? ''}: ${raw.message ?? ''}` } : {}),
    changed: changedTables(raw, 0),
    elsewhere: changedTables(raw, 1),
    audit: raw.audit ?? [],
    looked: raw.looked,
  };
}

function changedTables({ before, after }: Raw, part: 0 | 1): string[] {
  const names = Object.keys({ ...before, ...after }).sort();
  // A table that is empty has no entry.
  return names.filter(
    (name) => (before?.[name]?.[part] ?? null) !== (after?.[name]?.[part] ?? null),
  );
}

function parsed(detail: string | null): Json | undefined {
  try {
    return JSON.parse(detail ?? '') as Json;
  } catch {
    return undefined;
  }
}

const AUDIT = 'public.dot_iu_command_run';

const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as relation,
         case n.nspname when 'public' then c.relname else format('%s.%s', n.nspname, c.relname) end
           as name
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where c.relkind = 'r'
     and c.relpersistence <> 't'
     and n.nspname not in ('pg_catalog', 'information_schema', 'tap')
   order by 1`;

/**
 * A function with the tables written out, so that its plan is made once a session. A table's hash is
 * the sum of its rows' hashes: no order has to be agreed on.
 */
function stateFunction(tables: readonly { relation: string; name: string }[]): string {
  const parts = tables.map(
    ({ relation, name }) => `
      select '${name}', r.line
        from (select t::text as line from ${relation} t${relation === AUDIT ? ' where t.run_seq <= p_mark' : ''} offset 0) r`,
  );
  return `
    create or replace function pg_temp.state(p_about text, p_mark bigint)
    returns jsonb
    language plpgsql
    as $state$
    begin
      return (
        select jsonb_object_agg(s.name, jsonb_build_array(s.about, s.others))
          from (
                 select l.name,
                        sum(hashtextextended(l.line, 0)) filter (where l.line like p_about)::text as about,
                        sum(hashtextextended(l.line, 0)) filter (where l.line not like p_about)::text as others
                   from (${parts.length === 0 ? 'select null::text, null::text where false' : parts.join(' union all')}) l(name, line)
                  group by l.name
               ) s
      );
    end
    $state$`;
}

// The undoing: what the inner block did is rolled back by its own error, what it learnt stays in
// variables. A job id of nobody stands for "about none": no row holds it. Trials without an
// arrangement that are about one job begin in one state, which is hashed once.
const TRIALS = `
  create or replace function pg_temp.trials(p_trials jsonb)
  returns setof jsonb
  language plpgsql
  as $trials$
  declare
    v_trial jsonb;
    v_about text;
    v_about_before text;
    v_sql text;
    v_mark bigint;
    v_before jsonb;
    v_after jsonb;
    v_answer jsonb;
    v_sqlstate text;
    v_message text;
    v_detail text;
    v_audit jsonb;
    v_looked jsonb;
  begin
    for v_trial in select * from jsonb_array_elements(p_trials) loop
      v_about := '%' || coalesce(v_trial ->> 'about', '-nobody-') || '%';
      v_answer := null;
      v_sqlstate := null;
      v_message := null;
      v_detail := null;
      v_audit := null;
      v_looked := null;
      begin
        for v_sql in select * from jsonb_array_elements_text(coalesce(v_trial -> 'arrange', '[]')) loop
          execute v_sql;
        end loop;
        if v_trial ? 'arrange' or v_about is distinct from v_about_before then
          select coalesce(max(r.run_seq), 0) into v_mark from public.dot_iu_command_run r;
          v_before := pg_temp.state(v_about, v_mark);
          v_about_before := case when not v_trial ? 'arrange' then v_about end;
        end if;
        begin
          execute v_trial ->> 'call' into v_answer;
        exception when others then
          get stacked diagnostics v_sqlstate = returned_sqlstate,
                                  v_message = message_text,
                                  v_detail = pg_exception_detail;
        end;
        v_after := pg_temp.state(v_about, v_mark);
        select jsonb_agg(to_jsonb(r) order by r.run_seq)
          into v_audit
          from public.dot_iu_command_run r
         where r.run_seq > v_mark;
        if v_trial ? 'look' then
          execute v_trial ->> 'look' into v_looked;
        end if;
        raise exception using errcode = 'D45UN';
      exception when sqlstate 'D45UN' then
        null;
      end;
      return next jsonb_build_object(
        'answer', v_answer,
        'sqlstate', v_sqlstate,
        'message', v_message,
        'detail', v_detail,
        'audit', v_audit,
        'looked', v_looked,
        'before', v_before,
        'after', v_after);
    end loop;
  end
  $trials$`;
