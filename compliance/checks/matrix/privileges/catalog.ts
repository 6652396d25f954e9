/** What is in the database: functions, relations and their columns, grants, owners, attributes. */
import type { Session } from '../../../types.ts';
import type { RelationKind } from './model.ts';

export type FunctionFound = { schema: string; signature: string; owner: string; call: string };
export type RelationFound = {
  schema: string;
  name: string;
  kind: RelationKind;
  owner: string;
  columns: string[];
};
export type RoleFound = { name: string; attributes: string[]; member_of: string[] };
export type Catalog = {
  functions: FunctionFound[];
  relations: RelationFound[];
  /** Every grant to anyone but an object's own owner, in the words of `grantsStated`. */
  grants: string[];
  /** Whether PUBLIC may create in schema public: a server before 15 came so, and it is not ours to say. */
  public_may_create: boolean;
};

/** Reads schemas public and those that the file calls closed. */
export async function readCatalog(session: Session, closed: readonly string[]): Promise<Catalog> {
  const schemas = ['public', ...closed];
  return {
    functions: await session.query<FunctionFound>(FUNCTIONS, [schemas]),
    relations: await session.query<RelationFound>(RELATIONS, [schemas]),
    grants: (await session.query<{ text: string }>(GRANTS, [schemas])).map(({ text }) => text),
    public_may_create: (await session.query<{ may: boolean }>(PUBLIC_MAY_CREATE))[0]?.may ?? false,
  };
}

export async function readRoles(session: Session, roles: readonly string[]): Promise<RoleFound[]> {
  return session.query<RoleFound>(ROLES, [roles]);
}

// An extension's members answer to the extension, not to the queue.
const OWN = (table: string, oid: string): string => `
  not exists (
    select 1
      from pg_catalog.pg_depend e
     where e.classid = '${table}'::regclass
       and e.objid = ${oid}
       and e.deptype = 'e'
  )`;

/** A signature with types alone, and a call with NULL in every argument. */
const FUNCTIONS = `
  select n.nspname as schema,
         p.proname || '(' || coalesce(a.types, '') || ')' as signature,
         pg_get_userbyid(p.proowner) as owner,
         format('select %I.%I(%s)', n.nspname, p.proname, coalesce(a.nulls, '')) as call
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
   cross join lateral (
           select string_agg(format_type(t.type, null), ',' order by t.place) as types,
                  string_agg('null::' || format_type(t.type, null), ', ' order by t.place) as nulls
             from unnest(p.proargtypes::oid[]) with ordinality t(type, place)
         ) a
   where n.nspname = any ($1)
     and ${OWN('pg_proc', 'p.oid')}
   order by 1, 2`;

const RELATIONS = `
  select n.nspname as schema,
         c.relname as name,
         case c.relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end as kind,
         pg_get_userbyid(c.relowner) as owner,
         array(
           select a.attname::text
             from pg_catalog.pg_attribute a
            where a.attrelid = c.oid
              and a.attnum > 0
              and not a.attisdropped
            order by a.attnum
         ) as columns
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any ($1)
     and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
     and ${OWN('pg_class', 'c.oid')}
   order by 1, 2`;

const GRANTS = `
  with acl(object, owner, list) as (
    select 'on ' || case n.nspname when 'public' then '' else n.nspname || '.' end || p.proname || '('
             || coalesce((
                  select string_agg(format_type(t.type, null), ',' order by t.place)
                    from unnest(p.proargtypes::oid[]) with ordinality t(type, place)
                ), '') || ')',
           p.proowner,
           coalesce(p.proacl, acldefault('f', p.proowner))
      from pg_catalog.pg_proc p
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace
     where n.nspname = any ($1)
       and ${OWN('pg_proc', 'p.oid')}
    union all
    select 'on ' || case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname,
           c.relowner,
           coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))
      from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any ($1)
       and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
       and ${OWN('pg_class', 'c.oid')}
    union all
    select 'on ' || case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname
             || '.' || a.attname,
           c.relowner,
           a.attacl
      from pg_catalog.pg_attribute a
      join pg_catalog.pg_class c on c.oid = a.attrelid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any ($1)
       and a.attacl is not null
    union all
    select 'on schema ' || n.nspname, n.nspowner, coalesce(n.nspacl, acldefault('n', n.nspowner))
      from pg_catalog.pg_namespace n
     where n.nspname = any ($1)
  )
  select lower(x.privilege_type) || ' ' || a.object || ' to '
           || case x.grantee when 0 then 'PUBLIC' else pg_get_userbyid(x.grantee) end
           || case when x.is_grantable then ' with grant option' else '' end as text
    from acl a
   cross join lateral aclexplode(a.list) x
   where x.grantee <> a.owner
     -- What PUBLIC may do in schema public is the host's to say.
     and not (a.object = 'on schema public' and x.grantee = 0)
   order by 1`;

const PUBLIC_MAY_CREATE = `
  select exists (
           select 1
             from pg_catalog.pg_namespace n
            cross join lateral aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) x
            where n.nspname = 'public'
              and x.grantee = 0
              and x.privilege_type = 'CREATE'
         ) as may`;

const ROLES = `
  select r.rolname as name,
         array_remove(array[
           case when r.rolcanlogin then 'login' end,
           case when r.rolsuper then 'superuser' end,
           case when r.rolcreaterole then 'createrole' end,
           case when r.rolcreatedb then 'createdb' end,
           case when r.rolreplication then 'replication' end,
           case when r.rolbypassrls then 'bypassrls' end
         ], null) as attributes,
         array(
           select pg_get_userbyid(m.roleid)::text
             from pg_catalog.pg_auth_members m
            where m.member = r.oid
            order by 1
         ) as member_of
    from pg_catalog.pg_roles r
   where r.rolname = any ($1)`;
