import { expect, test } from 'vitest';
import { wrap } from './wrap.ts';

test.for([
  ['a line that fits', 'one two', 30, '', ['one two']],
  [
    'lines under the first',
    'one two three four five six',
    24,
    '- ',
    ['- one two three four', '  five six'],
  ],
  [
    'a long word left whole',
    `see ${'x'.repeat(40)} there`,
    24,
    '',
    ['see', 'x'.repeat(40), 'there'],
  ],
  ['line ends and blanks taken as one', 'one\n   two', 30, '', ['one two']],
  [
    'letters counted, not code units',
    'được '.normalize('NFD').repeat(6),
    24,
    '',
    ['được được được được được'.normalize('NFD'), 'được'.normalize('NFD')],
  ],
] as const)('%s', ([, text, width, first, lines]) => {
  expect(wrap(text, width, first)).toEqual(lines);
});
