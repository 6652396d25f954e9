import { expect, test } from 'vitest';
import { textHash } from './text_hash.ts';

const statement = { en: 'A job is held.', vi: 'Job được giữ.' };

test('wrapping a paragraph anew leaves its hash alone', () => {
  const wrapped = { en: ' A job\n  is held. ', vi: 'Job được giữ.'.normalize('NFD') };
  expect(textHash(wrapped)).toBe(textHash(statement));
});

test.for([
  { ...statement, en: 'A job is held' },
  { ...statement, vi: 'Job được giữ' },
  { en: statement.vi, vi: statement.en },
])('another word in either language is another hash: %j', (other) => {
  expect(textHash(other)).not.toBe(textHash(statement));
});
