import { expect, test } from 'vitest';
import { KitError } from '../errors.ts';
import { findNamed } from './names.ts';
import { parseManifest } from './parse.ts';
import { goodManifest } from './samples.ts';

const manifest = parseManifest(goodManifest.replace('§8.4', 'Điều 35'), 'm.yaml');

test.for([
  ['s8.3', 's8.3'],
  ['§8.3', 's8.3'],
  ['8.3', 's8.3'],
  ['S8.3', 's8.3'],
  ['Điều 35', 's8.4'],
  ['dieu35', 's8.4'],
  ['s8.3.lease-functions', 's8.3.lease-functions'],
] as const)('%s names %s', ([name, id]) => {
  const { clause, check } = findNamed(manifest, name);
  expect((check ?? clause).id).toBe(id);
});

test.for([
  ['s8.33', 'unknown clause or check "s8.33"; did you mean s8.3?'],
  ['§8.5', 'unknown clause or check "§8.5"; did you mean s8.3?'],
  ['Điều 3', 'unknown clause or check "Điều 3"; did you mean s8.4?'],
  [
    's8.3.lease-function',
    'unknown clause or check "s8.3.lease-function"; did you mean s8.3.lease-functions?',
  ],
  ['queue', 'unknown clause or check "queue"'],
] as const)('%s is refused as a wrong argument', ([name, message]) => {
  const hint = 'dieu45 list shows every clause and its checks';
  expect(() => findNamed(manifest, name)).toThrow(new KitError(64, message, hint));
});
