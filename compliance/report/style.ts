/** Colours, symbols and widths for a terminal. Pure: whether there are colours is told, not found out. */
import pc from 'picocolors';
import type { ClauseStatus } from '../types.ts';

export type Style = {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  /** A text in the colour of a status. */
  status(status: ClauseStatus, text: string): string;
};

export function styleOf(color: boolean): Style {
  const { dim, bold, red, green, yellow, magenta, cyan } = pc.createColors(color);
  const colors: Readonly<Record<ClauseStatus, (text: string) => string>> = {
    passed: green,
    attested: green,
    failed: red,
    error: magenta,
    unknown: yellow,
    waived: cyan,
    not_applicable: dim,
    not_reviewed: dim,
  };
  return { dim, bold, red, status: (status, text) => colors[status](text) };
}

export const symbols: Readonly<Record<ClauseStatus, string>> = {
  passed: '✓',
  attested: '✓',
  failed: '✗',
  error: '!',
  unknown: '?',
  waived: '~',
  not_applicable: '–',
  not_reviewed: '○',
};

const segmenter = new Intl.Segmenter('vi');

/** The letters of a text as people count them, which Vietnamese with its diacritics needs. */
export function lettersOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Columns that a text takes, colours not included. */
export function widthOf(text: string): number {
  return lettersOf(text).length;
}

/** A text in exactly this many columns: filled up, or cut with an ellipsis. */
export function fit(text: string, columns: number): string {
  const letters = lettersOf(text);
  if (letters.length <= columns) return text + ' '.repeat(columns - letters.length);
  return columns < 1 ? '' : `${letters.slice(0, columns - 1).join('')}…`;
}

/** A text from elsewhere, with its control characters made visible: none of them reaches a terminal. */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** `0.8 s`, `12.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
