/** Values as SQL expressions that a person can paste: nothing invisible, nothing ambiguous. Pure. */

/**
 * A text as a literal. What cannot be seen, or is not ASCII, stands as an escape. The text must hold
 * no NUL and no lone surrogate: PostgreSQL has no such text.
 */
export function textLiteral(value: string): string {
  const quoted = value.replaceAll("'", "''");
  if (/^[ -~]*$/.test(value) && !value.includes('\\')) return `'${quoted}'`;
  const escaped = quoted
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replace(/[^ -~]/gu, (char) => escapeOf(char.codePointAt(0) ?? 0));
  return `E'${escaped}'`;
}

function escapeOf(codePoint: number): string {
  return codePoint > 0xffff
    ? `\\U${codePoint.toString(16).padStart(8, '0')}`
    : `\\u${codePoint.toString(16).padStart(4, '0')}`;
}

/** A name, qualified where it has a schema; quoted only where it must be. */
export function nameSql(...parts: readonly string[]): string {
  return parts
    .map((part) => (/^[a-z_][a-z0-9_]*$/.test(part) ? part : `"${part.replaceAll('"', '""')}"`))
    .join('.');
}

/** An expression with its type, so that no overload can be meant by mistake. */
export function typed(expression: string, type: string): string {
  const plain = /^('([^'\\]|'')*'|null|true|false|\d+)$/.test(expression);
  return `${plain ? expression : `(${expression})`}::${type}`;
}

/** Characters as PostgreSQL counts them: code points. */
export function charLength(text: string): number {
  return Array.from(text).length;
}

/** One statement on one line, cut where it is long: what a trace shows. */
export function oneLine(sql: string, longest = 2_000): string {
  const flat = sql.trim().replaceAll(/\s*\n\s*/g, ' ');
  return flat.length <= longest ? flat : `${flat.slice(0, longest)} …`;
}
