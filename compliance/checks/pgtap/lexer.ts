/**
 * Where SQL ends and psql begins: splits a script into runs of SQL tokens and backslash lines.
 *
 * PostgreSQL's own scanner (libpg-query) decides what is inside a string, a dollar quote or a
 * comment; nothing here guesses at quotes. A backslash starts a command exactly when the text
 * before it scans cleanly and does not end inside a line comment.
 */
import { loadModule, scanSync, type ScanToken } from 'libpg-query';

/** A token with its place in the script, in UTF-16 units as strings count them. */
export type Token = {
  text: string;
  start: number;
  end: number;
  is: 'comment' | 'word' | 'string' | 'other';
};
export type Piece =
  | { is: 'sql'; tokens: readonly Token[] }
  /** From the backslash to the end of its line, without the line end. */
  | { is: 'command'; text: string; start: number };
export type Lexed = { pieces: readonly Piece[] } | { unterminatedAt: number };

/** Must be awaited once before `lex`: the scanner is WebAssembly. */
export const loadScanner: () => Promise<void> = loadModule;

/** Splits a whole script. `unterminatedAt` is where the line begins on which a quote or comment opens and never closes. */
export function lex(script: string): Lexed {
  const pieces: Piece[] = [];
  let position = 0;
  while (position < script.length) {
    const found = nextCommand(script, position);
    if (found === undefined) return { unterminatedAt: lineOfOpenQuote(script, position) };
    if (found.tokens.length > 0) pieces.push({ is: 'sql', tokens: found.tokens });
    if (found.commandAt === undefined) break;
    const end = endOfLine(script, found.commandAt);
    pieces.push({
      is: 'command',
      text: script.slice(found.commandAt, end).replace(/\r$/, ''),
      start: found.commandAt,
    });
    position = end + 1;
  }
  return { pieces };
}

/** The tokens up to the next backslash that is outside every quote and comment, or to the end. */
function nextCommand(
  script: string,
  from: number,
): { tokens: readonly Token[]; commandAt: number | undefined } | undefined {
  for (
    let backslash = script.indexOf('\\', from);
    ;
    backslash = script.indexOf('\\', backslash + 1)
  ) {
    const end = backslash === -1 ? script.length : backslash;
    const tokens = scan(script, from, end);
    if (backslash === -1) return tokens && { tokens, commandAt: undefined };
    if (tokens !== undefined && !endsInLineComment(tokens, end)) {
      return { tokens, commandAt: backslash };
    }
  }
}

function endsInLineComment(tokens: readonly Token[], end: number): boolean {
  const last = tokens.at(-1);
  return last?.is === 'comment' && last.text.startsWith('--') && last.end === end;
}

/** Tokens of a part of the script; undefined when the part ends inside a quote or comment. */
function scan(script: string, from: number, to: number): readonly Token[] | undefined {
  const part = script.slice(from, to);
  const raw = scanOrUndefined(part);
  if (raw === undefined) return undefined;
  // The scanner counts bytes of UTF-8; a script with letters beyond ASCII needs them translated.
  const toIndex = byteToIndex(part);
  return raw.map((token) => ({
    text: part.slice(toIndex(token.start), toIndex(token.end)),
    start: from + toIndex(token.start),
    end: from + toIndex(token.end),
    is: sortOf(token),
  }));
}

function scanOrUndefined(part: string): readonly ScanToken[] | undefined {
  if (part.trim() === '') return [];
  try {
    return scanSync(part).tokens;
  } catch {
    // The binding reports an unterminated quote or comment by throwing; it has no code to match.
    return undefined;
  }
}

function sortOf(token: ScanToken): Token['is'] {
  if (token.tokenName === 'SQL_COMMENT' || token.tokenName === 'C_COMMENT') return 'comment';
  if (token.tokenName === 'SCONST') return 'string';
  return /^[\p{L}_]/u.test(token.text) && !token.text.includes("'") ? 'word' : 'other';
}

function byteToIndex(part: string): (byte: number) => number {
  const bytes = Buffer.from(part);
  if (bytes.length === part.length) return (byte) => byte;
  // Tokens come in order, so each translation continues where the last one stopped.
  let atByte = 0;
  let atIndex = 0;
  return (byte) => {
    if (byte < atByte) [atByte, atIndex] = [0, 0];
    atIndex += bytes.toString('utf8', atByte, byte).length;
    atByte = byte;
    return atIndex;
  };
}

/** The last line start up to which everything still closes: the open quote is on that line. */
function lineOfOpenQuote(script: string, from: number): number {
  let line = from;
  for (let end = endOfLine(script, from); end < script.length; end = endOfLine(script, end + 1)) {
    if (scan(script, from, end + 1) !== undefined) line = end + 1;
  }
  return line;
}

function endOfLine(script: string, from: number): number {
  const end = script.indexOf('\n', from);
  return end === -1 ? script.length : end;
}
