import { expect, test } from 'vitest';
import { candidateFolders } from './places.ts';

test('memory comes first', () => {
  expect(candidateFolders('/tmp', 'x', '/dev/shm')).toEqual(['/dev/shm/x', '/tmp/x']);
});

test.each([
  ['/tmp', ['/tmp/x']],
  ['/var/tmp', ['/var/tmp/x', '/tmp/x']],
  [`/with space, comma 'and' đ`, [`/with space, comma 'and' đ/x`, '/tmp/x']],
  ['/' + 'a'.repeat(86), ['/' + 'a'.repeat(86) + '/x', '/tmp/x']],
  ['/' + 'a'.repeat(87), ['/tmp/x']],
  ['/' + 'đ'.repeat(44), ['/tmp/x']],
  ['/a"b', ['/tmp/x']],
  ['/a$b', ['/tmp/x']],
])('under %s the folders are %j', (tmpDir, folders) => {
  expect(candidateFolders(tmpDir, 'x')).toEqual(folders);
});
