/** What the privilege file says, asked in the terms of the check. Pure. */
import type { PrivilegesFile, Verb } from './schema.ts';

/** A role without any grant: what it can do, PUBLIC can. */
export const FRESH = 'dieu45_fresh';

export type RelationKind = 'table' | 'view' | 'sequence';
export type RelationPlan = {
  name: string;
  kind: RelationKind;
  /** The host's, which keeps its owner. */
  host: boolean;
  /** What the queue's owner may do with it; undefined: everything. */
  ownerVerbs?: readonly Verb[];
  /** Role → what it may read. */
  readers: Readonly<Record<string, 'all' | { all_but: readonly string[] }>>;
};

export function relationsOf(file: PrivilegesFile): RelationPlan[] {
  const ours = (kind: RelationKind, plans: PrivilegesFile['tables']): RelationPlan[] =>
    Object.entries(plans).map(([name, readers]) => ({ name, kind, host: false, readers }));
  const hosts = Object.entries(file.host.tables).map(
    ([name, { owner, readers }]): RelationPlan => ({
      name,
      kind: 'table',
      host: true,
      ownerVerbs: owner,
      readers,
    }),
  );
  return [...ours('table', file.tables), ...ours('view', file.views), ...hosts];
}

/** Signature → the roles beside the owner that may call it. */
export function functionsOf(file: PrivilegesFile): Map<string, { host: boolean; roles: string[] }> {
  const ours = Object.entries(file.functions).map(([name, roles]) => ({
    name,
    host: false,
    roles,
  }));
  const hosts = file.host.functions.map((name) => ({ name, host: true, roles: [] }));
  return new Map([...ours, ...hosts].map(({ name, ...plan }) => [name, plan]));
}

export function mayCall(file: PrivilegesFile, role: string, signature: string): boolean {
  const plan = functionsOf(file).get(signature);
  if (plan === undefined) return false;
  return (role === file.owner && !plan.host) || plan.roles.includes(role);
}

/** The columns that a role may read, in the order given. */
export function readable(
  { owner }: PrivilegesFile,
  role: string,
  relation: RelationPlan,
  columns: readonly string[],
): string[] {
  if (role === owner) return may(owner, role, relation, 'select') ? [...columns] : [];
  const plan = relation.readers[role];
  if (plan === undefined) return [];
  return plan === 'all' ? [...columns] : columns.filter((column) => !plan.all_but.includes(column));
}

/** Whether a role may write in this way: the owner alone may, and not everything on a host's table. */
export function may(owner: string, role: string, relation: RelationPlan, verb: Verb): boolean {
  return (
    role === owner && (relation.ownerVerbs === undefined || relation.ownerVerbs.includes(verb))
  );
}

/** Every grant that must be there, and no other: `execute on fn_job_get(uuid) to dot_producer`. */
export function grantsStated(
  file: PrivilegesFile,
  columnsOf: (relation: string) => readonly string[],
): string[] {
  const calls = [...functionsOf(file)].flatMap(([signature, { roles }]) =>
    roles.map((role) => `execute on ${signature} to ${role}`),
  );
  const helpers = Object.entries(file.closed_schemas).flatMap(([schema, { asked_by_views }]) =>
    Object.entries(asked_by_views).flatMap(([signature, roles]) =>
      roles.map((role) => `execute on ${schema}.${signature} to ${role}`),
    ),
  );
  const reads = relationsOf(file).flatMap((relation) =>
    Object.entries(relation.readers).flatMap(([role, plan]) =>
      plan === 'all'
        ? [`select on ${relation.name} to ${role}`]
        : readable(file, role, relation, columnsOf(relation.name)).map(
            (column) => `select on ${relation.name}.${column} to ${role}`,
          ),
    ),
  );
  const owners = relationsOf(file).flatMap(({ name, ownerVerbs = [] }) =>
    ownerVerbs.map((verb) => `${verb} on ${name} to ${file.owner}`),
  );
  const schemas = Object.entries(file.public_schema).flatMap(([role, rights]) =>
    rights.map((right) => `${right} on schema public to ${role}`),
  );
  return [...calls, ...helpers, ...reads, ...owners, ...schemas].sort();
}
