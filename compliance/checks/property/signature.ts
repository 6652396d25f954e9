/** The public functions of the queue, as the catalog has them: nothing is listed by hand. */
import { CoverageError } from '../../errors.ts';
import type { Session } from '../../types.ts';
import { nameSql, typed } from './sql_text.ts';

export type Argument = {
  name: string;
  /** As `format_type` names it: `timestamp with time zone`. */
  type: string;
};
export type Signature = {
  name: string;
  args: readonly Argument[];
  /** It returns rows, so its refusals are raised (contract §5). */
  returnsRows: boolean;
  /** A VOLATILE function leaves an audit row for a refusal that it returns. */
  volatile: boolean;
};

/** Every public fn_job_* function, by name. @throws CoverageError when there is none. */
export async function publicFunctions(session: Session): Promise<Signature[]> {
  const rows = await session.query<{
    name: string;
    names: string[] | null;
    types: string[];
    returns_rows: boolean;
    volatile: boolean;
  }>(FUNCTIONS);
  if (rows.length === 0) throw new CoverageError('there is no public function fn_job_*');
  return rows.map((row) => ({
    name: row.name,
    args: row.types.map((type, index) => ({ name: row.names?.[index] ?? `$${index + 1}`, type })),
    returnsRows: row.returns_rows,
    volatile: row.volatile,
  }));
}

const FUNCTIONS = `
  select p.proname::text as name,
         p.proargnames[1:p.pronargs]::text[] as names,
         array(select pg_catalog.format_type(t.type, null)
                 from unnest(p.proargtypes) with ordinality t(type, place)
                order by t.place) as types,
         p.proretset as returns_rows,
         p.provolatile = 'v' as volatile
    from pg_catalog.pg_proc p
   where p.pronamespace = 'public'::regnamespace
     and p.proname like 'fn\\_job\\_%'
   order by p.proname, p.oid`;

/** A call as a person would type it. */
export function callText(fn: Signature, values: readonly string[]): string {
  return `select ${fn.returnsRows ? '* from ' : ''}${expression(fn, values)};`;
}

/** The same call as a query of one jsonb: the answer, or the array of the rows. */
export function callForAnswer(fn: Signature, values: readonly string[]): string {
  const call = expression(fn, values);
  return fn.returnsRows
    ? `select coalesce(jsonb_agg(to_jsonb(r)), '[]') from ${call} r`
    : `select to_jsonb(${call})`;
}

function expression(fn: Signature, values: readonly string[]): string {
  const args = fn.args.map(
    ({ name, type }, index) => `${nameSql(name)} => ${typed(values[index] ?? 'null', type)}`,
  );
  return `${nameSql('public', fn.name)}(${args.join(', ')})`;
}
