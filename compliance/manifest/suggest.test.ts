import { expect, test } from 'vitest';
import { didYouMean } from './suggest.ts';

test.for([
  ['s8.33', ['s8.2', 's8.3'], '; did you mean s8.3?'],
  ['expect', ['file', 'expects'], '; did you mean expects?'],
  ['must-observe', ['must_observe'], '; did you mean must_observe?'],
  ['GATE', ['gate'], '; did you mean gate?'],
  ['routed', ['routed_to', 'proposed'], '; did you mean routed_to?'],
  ['colour', ['label', 'impact'], ''],
  ['x', [], ''],
] as const)('"%s" is held against %j', ([word, candidates, guess]) => {
  expect(didYouMean(word, candidates)).toBe(guess);
});
