/** Reads every figure, as the role that is there to read them. */
import type { Session } from '../../../types.ts';
import type { Json, JsonObject } from '../json.ts';
import { sortedRows } from './expect.ts';

export type Signal = { value: number | null; bound: number | null; level: string };
export type Figures = {
  signals: Readonly<Record<string, Signal>>;
  health: Json;
  pressure: Json;
  leases: Json;
  letters: Json;
  jobs: number;
};

/** The view, planned once: it is asked about a hundred times. Still read as who asks. */
export async function openFigures(session: Session): Promise<void> {
  await session.query(`
    create function pg_temp.health()
    returns setof public.v_queue_health
    language plpgsql
    as $health$
    begin
      return query select h.* from public.v_queue_health h;
    end
    $health$`);
}

/** Runs one query as the role, and comes back. */
export async function as<Row extends Record<string, unknown>>(
  session: Session,
  role: string,
  sql: string,
): Promise<Row[]> {
  await session.query(`select set_config('role', $1, true)`, [role]);
  const rows = await session.query<Row>(sql);
  await session.query(`select set_config('role', 'none', true)`);
  return rows;
}

export async function readSignals(
  session: Session,
  role: string,
): Promise<Readonly<Record<string, Signal>>> {
  const rows = await as<{ signal: string } & Signal>(
    session,
    role,
    `select h.signal, h.value::float8 as value, h.bound::float8 as bound, h.level
       from pg_temp.health() h`,
  );
  return Object.fromEntries(rows.map(({ signal, ...figure }) => [signal, figure]));
}

export async function readFigures(session: Session, role: string): Promise<Figures> {
  const signals = await readSignals(session, role);
  const one = async (sql: string): Promise<Json> =>
    (await as<{ json: Json }>(session, role, sql))[0]?.json ?? null;
  const letters = (await one(LETTERS)) as JsonObject[];
  return {
    signals,
    health: await one(HEALTH),
    pressure: await one(PRESSURE),
    leases: await one(LEASES),
    letters: sortedRows(letters),
    jobs: Number(await one('select count(*)::int as json from public.job_queue q')),
  };
}

// The oldest as an age: a moment cannot be written into a file.
const HEALTH = `
  select h.json || jsonb_build_object('oldest_first_failed_at',
           extract(epoch from clock_timestamp() - (h.json ->> 'oldest_first_failed_at')::timestamptz)) as json
    from (select public.fn_dead_letter_health() as json) h`;
const PRESSURE = `
  select coalesce(jsonb_object_agg(p.job_kind, to_jsonb(p) - 'job_kind'), '{}') as json
    from public.v_job_retry_pressure p`;
const LEASES = `
  select coalesce(jsonb_object_agg(q.job_kind, to_jsonb(a)), '{}') as json
    from public.v_lease_active a
    join public.job_queue q on q.lease_name = a.lease_name`;
const LETTERS = `
  select coalesce(jsonb_agg(to_jsonb(d)), '[]') as json
    from public.v_dead_letter_all d`;
