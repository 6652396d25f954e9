/**
 * What a `postgres://` target must allow, read from its catalog and judged. Reading and judging are
 * apart: the judgement is pure.
 */
import type { Session } from '../types.ts';

/** The roles of the substrate (contract §7), which all databases of a cluster share. */
export const QUEUE_ROLES = [
  'dot_executor',
  'dot_producer',
  'workflow_admin',
  'dot_auditor',
  'dot_queue_owner',
] as const;

export type ServerFacts = {
  versionNum: number;
  /** A standby takes no new database. */
  standby: boolean;
  user: string;
  superuser: boolean;
  createDatabase: boolean;
  createRole: boolean;
  /** Roles of ours that exist, with their members other than the user itself, sorted. */
  roles: readonly {
    name: string;
    members: readonly string[];
    /** The user is a member. */
    member: boolean;
    /** The user may make itself a member. */
    grantable: boolean;
  }[];
};

export type Problem = { message: string; hint: string };

/** Reads the facts; changes nothing. */
export async function readFacts(session: Session): Promise<ServerFacts> {
  const [server] = await session.query<Omit<ServerFacts, 'roles'>>(`
    select
      current_setting('server_version_num')::int as "versionNum",
      pg_is_in_recovery() as standby,
      r.rolname::text as user,
      r.rolsuper as superuser,
      r.rolcreatedb or r.rolsuper as "createDatabase",
      r.rolcreaterole or r.rolsuper as "createRole"
    from pg_roles r
    where r.rolname = current_user`);
  if (!server) throw new Error('the server does not know its own user');
  const roles = await session.query<ServerFacts['roles'][number]>(ROLES, [QUEUE_ROLES]);
  return { ...server, roles };
}

/** Before 16, CREATEROLE is enough to grant any role; since then it takes ADMIN OPTION. */
const ROLES = `
  select
    r.rolname::text as name,
    array(
      select distinct m.member::regrole::text
      from pg_auth_members m
      where m.roleid = r.oid and m.member <> me.oid
      order by 1) as members,
    exists (select from pg_auth_members m where m.roleid = r.oid and m.member = me.oid) as member,
    me.rolsuper
      or exists (select from pg_auth_members m where m.roleid = r.oid and m.member = me.oid and m.admin_option)
      or me.rolcreaterole and current_setting('server_version_num')::int < 160000 as grantable
  from pg_roles r, pg_roles me
  where r.rolname = any($1) and me.rolname = current_user
  order by r.rolname`;

/** Every reason why the kit may not or must not work there, each with what to type. Pure. */
export function problemsOf(facts: ServerFacts, reuseRoles: boolean): Problem[] {
  const problems: Problem[] = [];
  const add = (message: string, hint: string): number => problems.push({ message, hint });
  const user = `"${facts.user}"`;
  if (facts.versionNum < 130000) {
    add(
      `PostgreSQL ${Math.floor(facts.versionNum / 10000)} is too old`,
      'use a server of 13 or newer',
    );
  }
  if (facts.standby) add('the server is a standby', 'name the primary');
  if (!facts.createDatabase) {
    add(`${facts.user} lacks the right to create databases`, `alter role ${user} createdb;`);
  }
  const missing = QUEUE_ROLES.filter((name) => !facts.roles.some((role) => role.name === name));
  if (missing.length > 0 && !facts.createRole) {
    add(
      `${facts.user} lacks the right to create the roles ${missing.join(', ')}`,
      `alter role ${user} createrole;`,
    );
  }
  const used = facts.roles.filter(({ members }) => members.length > 0);
  if (used.length > 0 && !reuseRoles) {
    const who = used.map(({ name, members }) => `${name} (${members.join(', ')})`).join(', ');
    add(
      `roles of the queue are in use on this server: ${who}`,
      'add --reuse-roles to use them as they are',
    );
  }
  for (const { name, member, grantable } of facts.roles) {
    if (!facts.superuser && !member && !grantable) {
      add(`${facts.user} may not act as ${name}`, `grant ${name} to ${user};`);
    }
  }
  return problems;
}
