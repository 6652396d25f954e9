import { widthOf } from '../report/style.ts';

/** Longer lines than this are hard to read, however wide the terminal is. */
const MOST_COLUMNS = 100;
const LEAST_COLUMNS = 20;

/**
 * A text in lines of at most `width` columns, the first behind `first` and the others under it. A
 * word that is longer than a line, such as a path, is left whole: it may be copied.
 */
export function wrap(text: string, width: number, first = ''): string[] {
  const indent = ' '.repeat(widthOf(first));
  const room = Math.max(LEAST_COLUMNS, Math.min(width, MOST_COLUMNS) - indent.length);
  const lines: string[] = [];
  let line = '';
  for (const word of text.trim().split(/\s+/)) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((text, index) => (index === 0 ? first : indent) + text);
}
