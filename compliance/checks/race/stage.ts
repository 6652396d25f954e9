/**
 * The state that orders begin in and end in. Every order of a scenario begins in the very same
 * state; what it left behind can be read as one JSON value.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Sandbox, Session } from '../../types.ts';
import type { Json } from './variables.ts';

/** Rows of every table, without columns that only number them. */
export type State = Readonly<Record<string, readonly Json[]>>;

export type Stage = {
  /** Puts back what every table held when the stage was opened. */
  reset(): Promise<void>;
  state(): Promise<State>;
  /** Job and lease rows that some session holds locked, as table → keys. */
  heldRows(): Promise<readonly HeldRow[]>;
};

/** A row that another transaction holds locked, by its key. */
export type HeldRow = { table: string; key: string };

/** Tables whose rows a call may lawfully pass over while another call holds them (contract §4, §8). */
const SKIPPABLE = [
  { table: 'public.job_queue', key: 'job_id' },
  { table: 'public.dot_iu_runtime_lease', key: 'lease_name' },
] as const;

type Table = { name: string; columns: string; shown: string; empty: boolean };

/** Remembers what every table of the sandbox holds now, in a schema of its own. */
export async function openStage(sandbox: Sandbox, control: Session): Promise<Stage> {
  await control.query('create schema if not exists dieu45_stage');
  const names = await control.query<Omit<Table, 'empty'>>(TABLES);
  const tables: Table[] = [];
  for (const [index, table] of names.entries()) {
    await control.query(`create table dieu45_stage.base_${index} as table ${table.name}`);
    const rows = await control.query(`select 1 from dieu45_stage.base_${index} limit 1`);
    tables.push({ ...table, empty: rows.length === 0 });
  }
  const reset = resetSql(tables, sandbox.server.can.has('superuser'));
  const state = stateSql(tables);
  const present = SKIPPABLE.filter(({ table }) => names.some(({ name }) => name === table));
  return {
    async reset() {
      await retried(() => control.query(reset));
    },
    async state() {
      const [row] = await control.query<{ state: State }>(state);
      return row?.state ?? {};
    },
    async heldRows() {
      const rows: HeldRow[] = [];
      for (const { table, key } of present) {
        const held = await control.query<{ key: string }>(
          `select ${key}::text as key from ${table}
            where ${key} <> all (array(select ${key} from ${table} for update skip locked))`,
        );
        rows.push(...held.map((row) => ({ table, key: row.key })));
      }
      return rows;
    },
  };
}

/** Deletes beat truncation on tables this small: no lock that waits, no new files. */
function resetSql(tables: readonly Table[], superuser: boolean): string {
  return [
    'begin',
    // Neither triggers nor foreign keys: this is no event of the queue.
    ...(superuser ? ['set local session_replication_role = replica'] : []),
    ...tables.map(({ name }) => `delete from ${name}`),
    ...tables.flatMap(({ name, columns, empty }, index) =>
      empty
        ? []
        : [
            `insert into ${name} (${columns}) overriding system value ` +
              `select ${columns} from dieu45_stage.base_${index}`,
          ],
    ),
    'commit',
  ].join(';\n');
}

function stateSql(tables: readonly Table[]): string {
  const parts = tables.map(
    ({ name, shown }) =>
      `'${name}', (select coalesce(jsonb_agg(to_jsonb(t)), '[]') from (select ${shown} from ${name}) t)`,
  );
  return `select jsonb_build_object(${parts.join(',\n')}) as state`;
}

/** A backend that was cancelled may hold its locks for a moment longer. */
async function retried(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === 3 || (error as { code?: string }).code !== '40P01') throw error;
      await delay(10);
    }
  }
}

/**
 * Every table of the database that is not the server's or ours. `shown` leaves out identity columns
 * and sequences: which of two concurrent calls drew the lower number is no fact about the queue.
 */
const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as name,
         string_agg(quote_ident(a.attname), ', ' order by a.attnum)
           filter (where a.attgenerated = '') as columns,
         string_agg(quote_ident(a.attname), ', ' order by a.attnum)
           filter (where a.attidentity = ''
                     and coalesce(pg_get_expr(d.adbin, d.adrelid), '') not like 'nextval(%') as shown
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_catalog.pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
   where c.relkind = 'r'
     and c.relpersistence <> 't'
     and n.nspname !~ '^(pg_|dieu45_)'
     and n.nspname not in ('information_schema', 'tap')
   group by n.nspname, c.relname
   order by n.nspname, c.relname`;
