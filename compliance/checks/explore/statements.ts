/**
 * The statements of a PL/pgSQL function: on which line each begins and which SQL it holds, from
 * PostgreSQL's own parser. Pure.
 */
import { parsePlPgSQLSync } from 'libpg-query';
import { footprintOf, NOTHING, union, type Footprint } from './footprint.ts';

export type Statement = {
  /** Line of the body, from 1; the body begins right behind its opening quote. */
  line: number;
  /** `execsql`, `if`, `assign`… as the parser calls it. */
  kind: string;
  footprint: Footprint;
  /** How many of its own expressions touch a table: nothing can stop between them. */
  queries: number;
};

export type Body = {
  statements: readonly Statement[];
  /** What the defaults of declarations touch, before the first statement runs. */
  declarations: Footprint;
  /** True for EXECUTE: what it runs is not known before. */
  dynamic: boolean;
};

type Node = Readonly<Record<string, unknown>>;
type Open = { line: number; kind: string; footprints: Footprint[] };

/**
 * Reads the body out of a whole `create function`.
 * @throws Error when the parser gives no function, or more than one; `loadModule()` must have run
 */
export function statementsOf(definition: string): Body {
  const parsed = parsePlPgSQLSync(definition) as { plpgsql_funcs?: readonly Node[] };
  const [first, ...more] = parsed.plpgsql_funcs ?? [];
  const parts = first?.PLpgSQL_function as Node | undefined;
  if (parts === undefined || more.length > 0)
    throw new Error('the parser did not give one function');
  const statements: Open[] = [];
  collect(parts.action, undefined, statements);
  const declared: Open = { line: 0, kind: 'declare', footprints: [] };
  collect(parts.datums, declared, statements);
  return {
    statements: statements.map(({ line, kind, footprints }) => ({
      line,
      kind,
      footprint: union(NOTHING, ...footprints),
      queries: footprints.filter(touchesSomething).length,
    })),
    declarations: union(NOTHING, ...declared.footprints),
    dynamic: statements.some(({ kind }) => kind.startsWith('dyn')),
  };
}

/** Walks the tree; an expression belongs to the statement that it stands in. */
function collect(node: unknown, inside: Open | undefined, statements: Open[]): void {
  if (Array.isArray(node)) {
    for (const item of node) collect(item, inside, statements);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  for (const [key, inner] of Object.entries(node as Node)) {
    if (key === 'PLpgSQL_expr') {
      inside?.footprints.push(expressionFootprint(inner as Expression));
    } else if (key.startsWith('PLpgSQL_stmt_')) {
      const line = (inner as { lineno?: number }).lineno ?? 0;
      const open: Open = { line, kind: key.slice('PLpgSQL_stmt_'.length), footprints: [] };
      statements.push(open);
      collect(inner, open, statements);
    } else {
      collect(inner, inside, statements);
    }
  }
}

type Expression = { query: string; parseMode?: number };

/** A whole statement, an expression, or `target := expression`, which the parser tells by its mode. */
function expressionFootprint({ query, parseMode = 0 }: Expression): Footprint {
  if (parseMode === 0) return footprintOf(query);
  if (parseMode <= 2) return footprintOf(`select ${query}`);
  return footprintOf(`select ${query.replace(/^[^=]*?:?=/, '')}`);
}

function touchesSomething({ reads, writes, inserts }: Footprint): boolean {
  return reads.size + writes.size + inserts.size > 0;
}
