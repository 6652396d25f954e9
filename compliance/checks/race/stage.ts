/**
 * The state that orders begin in and end in. Every order of a scenario begins in the very same
 * state; what it left behind can be read as one JSON value.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Session } from '../../types.ts';
import type { Json } from './variables.ts';

/**
 * Rows of every table that are not what they were when the order began, and under `<table>, before`
 * what those were. Columns that only number rows are left out.
 */
export type State = Readonly<Record<string, readonly Json[]>>;
const GONE = ', before';

export type Stage = {
  /** Puts back what every table held when the stage was opened, before any set-up. */
  clear(): Promise<void>;
  /** Remembers what every table holds now: the state that orders begin in. */
  save(): Promise<void>;
  /** Puts back what was saved. */
  restore(): Promise<void>;
  state(): Promise<State>;
  /** A look at the jobs and leases while nobody runs. */
  look(): Promise<Look>;
};

/** Rows that some session holds locked, and the ids of the jobs that everybody can see. */
export type Look = { held: readonly HeldRow[]; jobs: readonly string[] };

/** A row that another transaction holds locked, by its key. */
export type HeldRow = { table: string; key: string };

/** Tables whose rows a call may lawfully pass over while another call holds them (contract §4, §8). */
const SKIPPABLE = [
  { table: 'public.job_queue', key: 'job_id' },
  { table: 'public.dot_iu_runtime_lease', key: 'lease_name' },
] as const;

type Table = { name: string; columns: string; shown: string };

/**
 * Remembers what every table of the sandbox holds now, in a schema of its own. `keeper` is a session
 * that does nothing else: were its setting changed back and forth, the server would throw away every
 * plan each time.
 */
export async function openStage(keeper: Session, superuser: boolean): Promise<Stage> {
  // Neither triggers nor foreign keys where the session may say so: this is no event of the queue.
  if (superuser) await keeper.query('set session_replication_role = replica');
  const tables = await keeper.query<Table>(TABLES);
  await keeper.query(stageSql(tables));
  const state = { name: 'dieu45_state', text: stateSql(tables) };
  const present = SKIPPABLE.filter(({ table }) => tables.some(({ name }) => name === table));
  const look = { name: 'dieu45_look', text: present.map(lookSql).join(' union all ') };
  return {
    clear: () => retried(() => keeper.query('select dieu45_stage.clear()')),
    restore: () => retried(() => keeper.query('select dieu45_stage.restore()')),
    async save() {
      await keeper.query('select dieu45_stage.save()');
    },
    async state() {
      const { rows } = await keeper.client.query<{ state: Record<string, string> }>(state);
      const changed = Object.entries(rows[0]?.state ?? {}).filter(([, text]) => text !== '[]');
      return Object.fromEntries(changed.map(([name, text]) => [name, JSON.parse(text) as Json[]]));
    },
    async look() {
      if (present.length === 0) return { held: [], jobs: [] };
      const { rows } = await keeper.client.query<HeldRow & { free: boolean }>(look);
      return {
        held: rows.filter(({ free }) => !free).map(({ table, key }) => ({ table, key })),
        jobs: rows.filter(({ table }) => table === 'public.job_queue').map(({ key }) => key),
      };
    },
  };
}

/**
 * Two copies of every table, and functions that fill and use them, so that their plans are kept.
 * Deletes beat truncation on tables this small: no lock that waits, no new files.
 */
function stageSql(tables: readonly Table[]): string {
  const refill = (copy: string): string[] => [
    ...tables.map(({ name }) => `delete from ${name}`),
    ...tables.map(
      ({ name, columns }, index) =>
        `insert into ${name} (${columns}) overriding system value ` +
        `select ${columns} from dieu45_stage.${copy}_${index}`,
    ),
  ];
  const save = tables.flatMap(({ name }, index) => [
    `delete from dieu45_stage.saved_${index}`,
    `insert into dieu45_stage.saved_${index} select * from ${name}`,
  ]);
  const procedure = (name: string, statements: readonly string[]): string =>
    `create function dieu45_stage.${name}() returns void language plpgsql as ` +
    `$dieu45$ begin ${['null', ...statements].join(';\n')}; end $dieu45$`;
  return [
    'create schema dieu45_stage',
    ...tables.flatMap(({ name }, index) => [
      `create table dieu45_stage.bare_${index} as table ${name}`,
      `create table dieu45_stage.saved_${index} as table ${name}`,
    ]),
    procedure('clear', refill('bare')),
    procedure('restore', refill('saved')),
    procedure('save', save),
  ].join(';\n');
}

function lookSql({ table, key }: (typeof SKIPPABLE)[number]): string {
  return (
    `select '${table}' as "table", t.${key}::text as key, ` +
    `t.${key} = any (array(select ${key} from ${table} for update skip locked)) as free from ${table} t`
  );
}

/** What differs from the saved copy, row by row: most tables are as they were, and need no reading. */
function stateSql(tables: readonly Table[]): string {
  const rows = (of: string, shown: string): string =>
    `select to_jsonb(t) as r from (select ${shown} from ${of}) t`;
  const except = (one: string, other: string): string =>
    `(select coalesce(jsonb_agg(d.r), '[]') from (${one} except all ${other}) d)`;
  const parts = tables.flatMap(({ name, shown }, index) => {
    const now = rows(name, shown);
    const before = rows(`dieu45_stage.saved_${index}`, shown);
    return [`'${name}'`, except(now, before), `'${name}${GONE}'`, except(before, now)];
  });
  // A function takes a hundred arguments at most.
  return `select jsonb_object(array[${parts.map((part) => `(${part})::text`).join(',\n')}]) as state`;
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
