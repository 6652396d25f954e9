/**
 * What a statement touches: the tables that it reads, writes, locks or inserts into, the functions
 * that it calls, and whether it looks at the clock. Found in PostgreSQL's own parse tree. Pure.
 */
import { parseSync } from 'libpg-query';

export type Footprint = {
  reads: ReadonlySet<string>;
  /** Updated, deleted from, or locked row by row. */
  writes: ReadonlySet<string>;
  inserts: ReadonlySet<string>;
  /** Functions as they are written, `schema.name` or `name`. */
  calls: ReadonlySet<string>;
};

export const NOTHING: Footprint = {
  reads: new Set(),
  writes: new Set(),
  inserts: new Set(),
  calls: new Set(),
};

/** Everything that either touches. */
export function union(...all: readonly Footprint[]): Footprint {
  const merge = (key: keyof Footprint): Set<string> => new Set(all.flatMap((one) => [...one[key]]));
  return {
    reads: merge('reads'),
    writes: merge('writes'),
    inserts: merge('inserts'),
    calls: merge('calls'),
  };
}

export function touchesTables({ reads, writes, inserts }: Footprint): boolean {
  return reads.size + writes.size + inserts.size > 0;
}

type Node = Readonly<Record<string, unknown>>;
type Found = { [key in keyof Footprint]: Set<string> };

/** One or more statements of SQL. @throws what the parser throws; `loadModule()` must have run */
export function footprintOf(sql: string): Footprint {
  const found: Found = {
    reads: new Set(),
    writes: new Set(),
    inserts: new Set(),
    calls: new Set(),
  };
  visit(parseSync(sql), found, new Set());
  return found;
}

function visit(node: unknown, found: Found, ctes: ReadonlySet<string>): void {
  if (Array.isArray(node)) {
    for (const item of node) visit(item, found, ctes);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  for (const [kind, inner] of Object.entries(node)) {
    // `for update of q` names an alias, not a table.
    if (kind === 'lockedRels') continue;
    const within = withCtes(inner, ctes);
    note(kind, inner, found, within);
    visit(inner, found, within);
  }
}

/** A name that a WITH clause gives is no table. */
function withCtes(node: unknown, ctes: ReadonlySet<string>): ReadonlySet<string> {
  const clause = field(field(node, 'withClause'), 'ctes');
  if (!Array.isArray(clause)) return ctes;
  const names = clause.map((one) => String(field(field(one, 'CommonTableExpr'), 'ctename')));
  return new Set([...ctes, ...names]);
}

function note(kind: string, node: unknown, found: Found, ctes: ReadonlySet<string>): void {
  switch (kind) {
    case 'RangeVar': {
      const name = relationName(node, ctes);
      if (name !== undefined) found.reads.add(name);
      return;
    }
    case 'InsertStmt': {
      const name = relationName(field(node, 'relation'), ctes);
      if (name === undefined) return;
      found.inserts.add(name);
      // Whoever inserts on conflict looks at the rows that are there, and may change one.
      if (field(node, 'onConflictClause') !== undefined) found.writes.add(name);
      return;
    }
    case 'UpdateStmt':
    case 'DeleteStmt': {
      const name = relationName(field(node, 'relation'), ctes);
      if (name !== undefined) found.writes.add(name);
      return;
    }
    case 'SelectStmt':
      if (field(node, 'lockingClause') !== undefined) {
        const locked: Found = { ...found, reads: found.writes };
        visit(field(node, 'fromClause'), locked, ctes);
      }
      return;
    case 'FuncCall': {
      const parts = field(node, 'funcname');
      if (Array.isArray(parts)) found.calls.add(parts.map(stringOf).join('.'));
    }
  }
}

/** `schema.name`, or the bare name; undefined for a name of a WITH clause. */
function relationName(node: unknown, ctes: ReadonlySet<string>): string | undefined {
  const name = field(node, 'relname');
  const schema = field(node, 'schemaname');
  if (typeof name !== 'string') return undefined;
  if (typeof schema === 'string') return `${schema}.${name}`;
  return ctes.has(name) ? undefined : name;
}

function stringOf(node: unknown): string {
  return String(field(field(node, 'String'), 'sval'));
}

function field(node: unknown, name: string): unknown {
  return typeof node === 'object' && node !== null ? (node as Node)[name] : undefined;
}
