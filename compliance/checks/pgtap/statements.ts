/**
 * Gathers SQL tokens into statements, with psql's rules of where a statement ends and its variables replaced.
 *
 * A semicolon ends a statement outside parentheses and outside the BEGIN … END body of a function in
 * the SQL standard's form. A variable that is not set stays as written, as in psql, so that an array
 * slice `a[1:n]` keeps its meaning.
 */
import type { Token } from './lexer.ts';
import { quoteIdentifier, quoteLiteral, type Variables } from './commands.ts';

/** A statement ready to send; `start` is where its first token stands in the script. */
export type Statement = { sql: string; start: number };

export type Gatherer = {
  /** Takes tokens of the script; yields the statements that they complete. */
  take: (tokens: readonly Token[], script: string, variables: Variables) => Statement[];
  /** What is left at the end of the file; psql runs it even without a semicolon. */
  rest: () => Statement | undefined;
};

const STANDARD_BODY = /^create (?:or replace )?(?:function|procedure)\b/;

export function gatherer(): Gatherer {
  let sql = '';
  let start = -1;
  let end = -1;
  let words: string[] = [];
  let parentheses = 0;
  let blocks = 0;

  const reset = (): void => {
    [sql, start, words, parentheses, blocks] = ['', -1, [], 0, 0];
  };

  const follow = (token: Token): void => {
    if (token.text === '(') parentheses += 1;
    if (token.text === ')') parentheses = Math.max(0, parentheses - 1);
    if (token.is !== 'word') return;
    const word = token.text.toLowerCase();
    if (words.length < 4) words.push(word);
    if (parentheses > 0 || !STANDARD_BODY.test(words.join(' '))) return;
    if (word === 'begin' || (word === 'case' && blocks > 0)) blocks += 1;
    if (word === 'end') blocks = Math.max(0, blocks - 1);
  };

  const take = (tokens: readonly Token[], script: string, variables: Variables): Statement[] => {
    const done: Statement[] = [];
    for (let i = 0; i < tokens.length; i += 1) {
      const token = tokens[i];
      if (token === undefined) break;
      if (start === -1) {
        // Comments before a statement are not part of it: its place is its first word.
        if (token.is === 'comment' || token.text === ';') continue;
        start = token.start;
        end = token.start;
      }
      // White space, and command lines between two tokens, become the same number of lines, so
      // that a line in the server's error is a line of the file.
      const gap = script.slice(end, token.start);
      sql += gap.trim() === '' ? gap : gap.replace(/[^\n]*\n/g, '\n');
      end = token.end;
      if (token.text === ';' && parentheses === 0 && blocks === 0) {
        done.push({ sql, start });
        reset();
        continue;
      }
      follow(token);
      const next = tokens[i + 1];
      const value = next && variableAt(token, next, variables);
      if (next && value !== undefined) {
        sql += value;
        end = next.end;
        i += 1;
      } else {
        sql += token.text;
      }
    }
    return done;
  };

  const rest = (): Statement | undefined => {
    const last = start === -1 ? undefined : { sql, start };
    reset();
    return last;
  };
  return { take, rest };
}

function variableAt(colon: Token, name: Token, variables: Variables): string | undefined {
  if (colon.text !== ':' || name.start !== colon.end) return undefined;
  const quoted = /^(['"])(\w+)\1$/.exec(name.text);
  const value = variables.get(quoted?.[2] ?? name.text);
  if (value === undefined) return undefined;
  if (quoted?.[1] === "'") return quoteLiteral(value);
  return quoted ? quoteIdentifier(value) : value;
}
