/**
 * The arguments of a psql backslash line: words, 'quotes' with escapes, "quotes", :variables.
 *
 * Follows psql's rules: a line may hold several commands, each ended by the next unquoted backslash.
 */

/** A command and its arguments, variables already replaced. */
export type Command = { name: string; args: readonly string[]; offset: number };
export type Parsed = { commands: readonly Command[] } | { problem: string; offset: number };
export type Variables = ReadonlyMap<string, string>;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', r: '\r', f: '\f' };

/** Parses one line that begins with a backslash. Offsets count from the start of the line. */
export function parseCommandLine(line: string, variables: Variables): Parsed {
  const commands: Command[] = [];
  let at = 0;
  while (at < line.length) {
    const offset = at;
    const name = /^\\([^\s\\]*)/.exec(line.slice(at))?.[1] ?? '';
    at += 1 + name.length;
    const args: string[] = [];
    for (;;) {
      at += /^\s*/.exec(line.slice(at))?.[0].length ?? 0;
      if (at >= line.length || line[at] === '\\') break;
      const word = readWord(line, at, variables);
      if ('problem' in word) return word;
      args.push(word.value);
      at = word.end;
    }
    commands.push({ name, args, offset });
  }
  return { commands };
}

type Word = { value: string; end: number };
type Problem = { problem: string; offset: number };

function readWord(line: string, from: number, variables: Variables): Word | Problem {
  let value = '';
  let at = from;
  while (at < line.length && !/[\s\\]/.test(line.charAt(at))) {
    const part = readPart(line, at, variables);
    if ('problem' in part) return part;
    value += part.value;
    at = part.end;
  }
  return { value, end: at };
}

function readPart(line: string, at: number, variables: Variables): Word | Problem {
  const rest = line.slice(at);
  if (rest.startsWith('`')) return { problem: 'a `command` is not run here', offset: at };
  if (rest.startsWith("'")) {
    const quoted = /^'((?:[^'\\]|\\.|'')*)'/.exec(rest);
    if (!quoted) return { problem: 'unterminated quoted string', offset: at };
    return { value: unescape(quoted[1] ?? ''), end: at + quoted[0].length };
  }
  if (rest.startsWith('"')) {
    const quoted = /^"([^"]*)"/.exec(rest);
    if (!quoted) return { problem: 'unterminated quoted string', offset: at };
    return { value: quoted[1] ?? '', end: at + quoted[0].length };
  }
  const variable = /^:(?:'(\w+)'|"(\w+)"|(\w+))/.exec(rest);
  if (variable) {
    const [whole, literal, identifier, plain] = variable;
    const known = variables.get(literal ?? identifier ?? plain ?? '');
    if (known !== undefined) {
      const quoted = literal ? quoteLiteral(known) : identifier ? quoteIdentifier(known) : known;
      return { value: quoted, end: at + whole.length };
    }
  }
  return { value: rest.charAt(0), end: at + 1 };
}

function unescape(text: string): string {
  return text.replace(
    /''|\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))/g,
    (
      whole: string,
      hex: string | undefined,
      octal: string | undefined,
      letter: string | undefined,
    ) => {
      if (whole === "''") return "'";
      if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
      if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8));
      return ESCAPES[letter ?? ''] ?? letter ?? '';
    },
  );
}

/** A value as an SQL string literal, as psql's `:'name'` writes it. */
export function quoteLiteral(value: string): string {
  const doubled = value.replaceAll("'", "''");
  return value.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

/** A value as a quoted SQL identifier, as psql's `:"name"` writes it. */
export function quoteIdentifier(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}
