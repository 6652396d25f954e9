/** The functions of a database with stops written into them, and what is known of each. */
import { loadModule } from 'libpg-query';
import { messageOf } from '../../errors.ts';
import type { Session } from '../../types.ts';
import { footprintOf, NOTHING, union, type Footprint } from './footprint.ts';
import { MOST_ACTORS } from './gates.ts';
import { instrument, type Stop } from './instrument.ts';
import type { Facts, FunctionFacts } from './interest.ts';
import { statementsOf } from './statements.ts';

export type Program = {
  stops: ReadonlyMap<number, Stop>;
  facts: Facts;
  /** Functions in which something cannot be stopped before, and why: name → reasons. */
  problems: ReadonlyMap<string, readonly string[]>;
};

type Source = { name: string; language: string; source: string; definition: string };

/** Rewrites every function of the database so that it can be stopped. Throwaway databases only. */
export async function plantStops(owner: Session): Promise<Program> {
  await loadModule();
  await owner.query(STOP);
  const sources = await owner.query<Source>(FUNCTIONS);
  const stops = new Map<number, Stop>();
  const functions = new Map<string, FunctionFacts>();
  const problems = new Map<string, readonly string[]>();
  for (const source of sources) {
    const { name } = source;
    const trouble: string[] = [];
    try {
      functions.set(name, factsOf(source));
      if (source.language === 'plpgsql') {
        const made = instrument(name, source.definition, stops.size + 1);
        for (const stop of made.stops) stops.set(stop.id, stop);
        trouble.push(...made.problems);
        if (made.stops.length > 0) await owner.query(made.definition);
      } else {
        trouble.push(...manyStatements(source));
      }
    } catch (error) {
      trouble.push(messageOf(error));
    }
    if (trouble.length > 0) problems.set(name, [...(problems.get(name) ?? []), ...trouble]);
  }
  return { stops, facts: { functions, ...(await readRelations(owner)) }, problems };
}

function factsOf({ name, language, source, definition }: Source): FunctionFacts {
  if (language !== 'plpgsql') return { name, footprint: footprintOf(source), stops: false };
  const { statements, declarations } = statementsOf(definition);
  const all: Footprint = union(NOTHING, declarations, ...statements.map((one) => one.footprint));
  return { name, footprint: all, stops: true };
}

/** A function in plain SQL runs as one step, which is right only while it is one statement. */
function manyStatements({ source }: Source): string[] {
  const statements = source.split(';').filter((one) => one.trim() !== '').length;
  return statements > 1 ? [`it is SQL of ${statements} statements, and runs as one step`] : [];
}

type Relations = Pick<Facts, 'views' | 'triggers' | 'unique'>;

async function readRelations(owner: Session): Promise<Relations> {
  const views = await owner.query<{ name: string; tables: string[] }>(VIEWS);
  const triggers = await owner.query<{ name: string; functions: string[] }>(TRIGGERS);
  const unique = await owner.query<{ name: string }>(UNIQUE);
  return {
    views: new Map(views.map(({ name, tables }) => [name, tables])),
    triggers: new Map(triggers.map(({ name, functions }) => [name, functions])),
    unique: new Set(unique.map(({ name }) => name)),
  };
}

/**
 * The stop: says where it is by a notice, which the server sends at once, and waits for a lock that
 * the keeper holds. Each stop of a session waits for a lock of its own, numbered by a sequence,
 * because that is the one counter that no rolled back block sets back. In a session that is not
 * armed, and at stops that do not matter, it does nothing.
 */
const STOP = `
  create schema dieu45_explore;
  grant usage on schema dieu45_explore to public;
  ${Array.from({ length: MOST_ACTORS }, (_, index) => `create sequence dieu45_explore.turn_${index + 1};`).join(' ')}
  create function dieu45_explore.stop(p_stop integer) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
  declare
    v_stops text := current_setting('dieu45.stops', true);
    v_actor integer := current_setting('dieu45.actor', true);
    v_turn integer;
  begin
    if coalesce(v_stops, '') = '' or p_stop <> all (v_stops::integer[]) then
      return true;
    end if;
    v_turn := nextval('dieu45_explore.turn_' || v_actor);
    raise notice 'dieu45 stop % %', p_stop, v_turn;
    perform pg_advisory_lock_shared(4545 + v_actor, v_turn);
    perform pg_advisory_unlock_shared(4545 + v_actor, v_turn);
    return true;
  end $$`;

const OURS = `n.nspname !~ '^(pg_|dieu45_)' and n.nspname not in ('information_schema', 'tap')`;

const FUNCTIONS = `
  select format('%s.%s', n.nspname, p.proname) as name, l.lanname as language, p.prosrc as source,
         pg_catalog.pg_get_functiondef(p.oid) as definition
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang
   where ${OURS} and p.prokind = 'f' and l.lanname in ('plpgsql', 'sql')
   order by 1, p.oid`;

/** Views to the tables behind them, through views of views. */
const VIEWS = `
  with recursive uses(view, relation) as (
    select distinct r.ev_class, d.refobjid
      from pg_catalog.pg_rewrite r
      join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass
       and d.objid = r.oid and d.refclassid = 'pg_catalog.pg_class'::regclass
       and d.refobjid <> r.ev_class
    union
    select u.view, d.refobjid
      from uses u
      join pg_catalog.pg_rewrite r on r.ev_class = u.relation
      join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::regclass
       and d.objid = r.oid and d.refclassid = 'pg_catalog.pg_class'::regclass
       and d.refobjid <> r.ev_class)
  select format('%s.%s', n.nspname, v.relname) as name,
         array_agg(distinct format('%s.%s', m.nspname, t.relname)) as tables
    from uses u
    join pg_catalog.pg_class v on v.oid = u.view
    join pg_catalog.pg_namespace n on n.oid = v.relnamespace
    join pg_catalog.pg_class t on t.oid = u.relation and t.relkind in ('r', 'p')
    join pg_catalog.pg_namespace m on m.oid = t.relnamespace
   where ${OURS}
   group by 1`;

const TRIGGERS = `
  select format('%s.%s', n.nspname, c.relname) as name,
         array_agg(distinct format('%s.%s', m.nspname, p.proname)) as functions
    from pg_catalog.pg_trigger t
    join pg_catalog.pg_class c on c.oid = t.tgrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_proc p on p.oid = t.tgfoid
    join pg_catalog.pg_namespace m on m.oid = p.pronamespace
   where not t.tgisinternal and ${OURS}
   group by 1`;

/** Tables with a unique index that is not over a number or an id which nobody gets twice. */
const UNIQUE = `
  select distinct format('%s.%s', n.nspname, c.relname) as name
    from pg_catalog.pg_index i
    join pg_catalog.pg_class c on c.oid = i.indrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
    left join pg_catalog.pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
   where i.indisunique and ${OURS}
     and not (i.indnatts = 1 and (coalesce(a.attidentity, '') <> ''
              or coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), '')
                 ~ '^(gen_random_uuid|nextval)\\('))`;
