import { createHash } from 'node:crypto';
import type { Text } from '../types.ts';

/**
 * The sha256 of a clause's statement in both languages. Line breaks and indentation do not count, so
 * a paragraph may be wrapped anew; a changed word does, and then the checks must be reviewed.
 */
export function textHash(statement: Text): string {
  const words = [statement.en, statement.vi].map((text) =>
    text.normalize('NFC').trim().replace(/\s+/g, ' '),
  );
  return createHash('sha256').update(words.join('\n')).digest('hex');
}
