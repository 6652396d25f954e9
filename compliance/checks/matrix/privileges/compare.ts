/** The catalog against the privilege file, both ways. Pure. */
import type { Cell } from '../cell.ts';
import type { Catalog, RoleFound } from './catalog.ts';
import { functionsOf, grantsStated, relationsOf } from './model.ts';
import type { PrivilegesFile } from './schema.ts';

/** One cell a question; what is seen is the list of what breaks it, so it is told in full. */
export function catalogCells(file: PrivilegesFile, catalog: Catalog): Cell[] {
  const functions = catalog.functions.filter(({ schema }) => schema === 'public');
  const relations = catalog.relations.filter(({ schema }) => schema === 'public');
  const named = {
    functions: new Set(functionsOf(file).keys()),
    relations: new Set([
      ...relationsOf(file).map(({ name }) => name),
      ...file.sequences,
      ...file.host.sequences,
    ]),
  };
  const there = {
    functions: new Set(functions.map(({ signature }) => signature)),
    relations: new Set(relations.map(({ name }) => name)),
  };
  const hosts = new Set([
    ...file.host.functions,
    ...file.host.sequences,
    ...Object.keys(file.host.tables),
  ]);
  const strangers = [
    ...catalog.functions.map(({ schema, signature, owner }) => ({
      schema,
      name: signature,
      owner,
    })),
    ...catalog.relations,
  ].filter(
    ({ schema, name, owner }) => owner !== file.owner && !(schema === 'public' && hosts.has(name)),
  );
  const columnsOf = (name: string): readonly string[] =>
    relations.find((one) => one.name === name)?.columns ?? [];
  const stated = grantsStated(file, columnsOf);
  return [
    none(
      'every function in the database is in the file',
      without(there.functions, named.functions),
    ),
    none(
      'every function in the file is in the database',
      without(named.functions, there.functions),
    ),
    none(
      'every table, view and sequence in the database is in the file',
      without(there.relations, named.relations),
    ),
    none(
      'every table, view and sequence in the file is in the database',
      without(named.relations, there.relations),
    ),
    none(
      `everything but what the host has belongs to ${file.owner}`,
      strangers.map(({ schema, name, owner }) => `${schema}.${name} belongs to ${owner}`),
    ),
    none(
      'no grant is there beyond the file, to PUBLIC, with grant option or to anyone else',
      without(new Set(catalog.grants), new Set(stated)),
    ),
    none('every grant of the file is there', without(new Set(stated), new Set(catalog.grants))),
  ];
}

/** A role without login, attribute or membership. */
export function roleCell(role: string, found: readonly RoleFound[]): Cell {
  const seen = found.find(({ name }) => name === role);
  return {
    name: `${role} cannot log in, has no attribute and is a member of no role`,
    expected: { attributes: [], member_of: [] },
    seen: seen ? { attributes: seen.attributes, member_of: seen.member_of } : 'no such role',
  };
}

function none(name: string, found: readonly string[]): Cell {
  return { name, expected: [], seen: [...found] };
}

function without(some: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...some].filter((one) => !others.has(one)).sort();
}
