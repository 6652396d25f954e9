import { expect, test } from 'vitest';
import { KitError } from '../errors.ts';
import { parseTarget } from './parse.ts';

test.each([
  ['embedded', { kind: 'embedded', major: 17 }],
  [' embedded ', { kind: 'embedded', major: 17 }],
  ['embedded:13', { kind: 'embedded', major: 13 }],
  ['embedded:18', { kind: 'embedded', major: 18 }],
  ['local:/usr/lib/postgresql/15/bin', { kind: 'local', bin: '/usr/lib/postgresql/15/bin' }],
  ['local:pg/bin', { kind: 'local', bin: '/here/pg/bin' }],
  ['container:postgres:17', { kind: 'container', image: 'postgres:17' }],
  ['postgres://a@b/c', { kind: 'url', url: 'postgres://a@b/c' }],
  ['postgresql:///c?host=/run', { kind: 'url', url: 'postgresql:///c?host=/run' }],
])('%s is read', (text, spec) => {
  expect(parseTarget(text, '/here')).toEqual(spec);
});

test.each([
  '',
  'embeded',
  'embedded:',
  'embedded:12',
  'embedded:17.2',
  'local',
  'local:',
  'container',
  'container:',
  'mysql://a',
  'postgres://a:b@c:notaport/d',
])('%j is refused as a usage error that says what to write', (text) => {
  let thrown: unknown;
  try {
    parseTarget(text, '/here');
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(KitError);
  expect(thrown).toMatchObject({ exitCode: 64, hint: expect.stringContaining('write ') as string });
});

test('a URL that cannot be read is not repeated, since it may hold a password', () => {
  expect(() => parseTarget('postgres://a:secret@c:x/d', '/here')).toThrow(/^(?!.*secret)/);
});
