/** Where in a text an error of the server points. Pure. */

/**
 * Line and column, from 1, of a character position as PostgreSQL reports it: from 1, in characters
 * (code points), not in bytes or UTF-16 units.
 */
export function lineAndColumn(text: string, position: number): { line: number; col: number } {
  let line = 1;
  let col = 1;
  let at = 1;
  for (const character of text) {
    if (at >= position) break;
    at += 1;
    if (character === '\n') {
      line += 1;
      col = 1;
    } else {
      col += 1;
    }
  }
  return { line, col };
}
