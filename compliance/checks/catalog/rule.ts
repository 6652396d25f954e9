/**
 * A catalog rule: one query that must return no row.
 *
 * The query begins with a CTE named `expected`, the list of what must be there, and its main part
 * joins the catalog to that list from the left. So an object that is missing is a row, and the
 * length of the list says how much was looked at: no rule can be green on an empty database.
 *
 * A rule over data may set its stage by `\ir`: what it includes runs before it, in a throwaway
 * database only.
 */
import { CoverageError } from '../../errors.ts';
import type { Where } from '../../types.ts';
import { lex, type Token } from '../pgtap/lexer.ts';
import { readScript, showWhere, type Step } from '../pgtap/script.ts';

export type Rule = {
  /** What holds when the rule is green: the first sentence of the file's header comment. */
  title: string;
  /** Statements of included files, in order. */
  stage: readonly string[];
  query: string;
  /** The same list, counted: one row with `looked_at`. */
  countQuery: string;
  at: Where;
};

/** @throws CoverageError when the file is not exactly one such query; KitError 65 when it cannot be read. */
export async function readRule(file: string, root: string, source: string): Promise<Rule> {
  const statements = (await readScript(file, root)).filter(isSql);
  const [only, another] = statements.filter(({ at }) => at.file === file);
  if (!only) throw new CoverageError(`${file} holds no query`);
  if (another) {
    throw new CoverageError(
      `${showWhere(another.at)}: a catalog rule is one query, and this is another`,
    );
  }
  return {
    title: titleOf(source) ?? `no finding of ${file}`,
    stage: statements.filter(({ at }) => at.file !== file).map(({ sql }) => sql),
    query: only.sql,
    countQuery: countOf(only.sql, only.at),
    at: only.at,
  };
}

function isSql(step: Step): step is Step & { is: 'sql' } {
  return step.is === 'sql';
}

/** The header comment up to its first full stop. */
function titleOf(source: string): string | undefined {
  const header = /^(?:--.*\n)+/.exec(source)?.[0].replaceAll(/^-- ?/gm, '').replaceAll('\n', ' ');
  return header === undefined ? undefined : (/^(.*?)\.(?:\s|$)/.exec(header)?.[1] ?? header).trim();
}

/** `with expected … <main query>` becomes `with expected … select count(*) …`. */
function countOf(sql: string, at: Where): string {
  const lexed = lex(sql);
  const tokens = ('pieces' in lexed ? lexed.pieces : [])
    .flatMap((piece) => (piece.is === 'sql' ? piece.tokens : []))
    .filter((token) => token.is !== 'comment');
  const main = mainSelect(tokens);
  if (main === undefined || !definesExpected(tokens)) {
    throw new CoverageError(
      `${showWhere(at)}: a catalog rule begins "with expected … as (…)", the list of what must be there`,
    );
  }
  return `${sql.slice(0, main.start)}select count(*)::int as looked_at from expected`;
}

function mainSelect(tokens: readonly Token[]): Token | undefined {
  let depth = 0;
  for (const token of tokens) {
    if (token.text === '(') depth += 1;
    if (token.text === ')') depth -= 1;
    if (depth === 0 && token.text.toLowerCase() === 'select') return token;
  }
  return undefined;
}

function definesExpected(tokens: readonly Token[]): boolean {
  const words = tokens.map(({ text }) => text.toLowerCase());
  const before = words.slice(0, words.indexOf('select'));
  return words[0] === 'with' && before.includes('expected');
}
