import { expect, test } from 'vitest';
import { outsideRelease } from './release.ts';

test.for([
  ['2.0', { since: '2.0' }, undefined],
  ['2.0', { since: '3.0' }, 'applies from release 3.0; this is 2.0'],
  ['3.0', { since: '2.0', until: '3.0' }, 'applied until release 3.0; this is 3.0'],
  ['2.9', { since: '2.0', until: '2.10' }, undefined],
  ['2.0', {}, undefined],
] as const)('release %s of %j', ([release, entry, why]) => {
  expect(outsideRelease(entry, release)).toBe(why);
});
