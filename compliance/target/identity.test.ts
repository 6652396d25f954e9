import { expect, test } from 'vitest';
import { probe, unprivilegedUser } from './identity.ts';

test.each([
  ['root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n', { uid: 65534, gid: 65534 }],
  ['nobody:x:99:99::/:/bin/false\nnfsnobody:x:65534:65533::/:', { uid: 65534, gid: 65533 }],
  ['nobody:x:99:98::/:/bin/false\n', { uid: 99, gid: 98 }],
  ['nobody:*:-2:-2::/:/bin/false\n', { uid: 65534, gid: 65534 }],
  ['', { uid: 65534, gid: 65534 }],
])('the unprivileged user of %j is %j', (passwd, identity) => {
  expect(unprivilegedUser(passwd)).toEqual(identity);
});

test('a probe says what stands in the way of a program', async () => {
  expect(await probe('/bin/sh', undefined)).toMatch(/./);
  expect(await probe('/nowhere/postgres', undefined)).toContain('ENOENT');
});
