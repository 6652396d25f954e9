import { expect, test } from 'vitest';
import { readSelfTestBlock } from './self_test_block.ts';

test('the block is read to its end, claims with colons and blanks included', () => {
  const text =
    '§12\n\nself_test:\n  a_key: yes\n  cites_§6_7: §7,§8: all\n  empty:\n\n---\n  not: this\n';
  expect(readSelfTestBlock(text, 'd.txt')).toEqual([
    { key: 'a_key', claim: 'yes', at: { file: 'd.txt', line: 4, col: 3 } },
    { key: 'cites_§6_7', claim: '§7,§8: all', at: { file: 'd.txt', line: 5, col: 3 } },
    { key: 'empty', claim: '', at: { file: 'd.txt', line: 6, col: 3 } },
  ]);
});

test.each([
  ['no block', 'nothing here\n', 'd.txt:1:1: no self_test: block'],
  ['an empty block', 'x\nself_test:\n\n', 'd.txt:2:1: the self_test: block is empty'],
  ['a line without a colon', 'self_test:\n  a: yes\n  b yes\n', 'd.txt:3:3: expected "key: value"'],
  ['a key twice', 'self_test:\n  a: yes\n  a: no\n', 'd.txt:3:3: a stands twice'],
])('%s is an error with its place', (_name, text, message) => {
  expect(() => readSelfTestBlock(text, 'd.txt')).toThrow(message);
});
