import { expect, test } from 'vitest';
import { privateTexts, redactDeep, redactor } from './redact.ts';

const redact = redactor(
  privateTexts({
    root: '/home/mai/dự án (1)',
    home: '/home/mai',
    tmp: '/tmp',
    hostname: 'builder-7',
    target: 'postgres://ci:s3cr%2Ft@db.example.org:5432/queue',
  }),
);

test.each([
  ['/home/mai/dự án (1)/sql/x.sql:1:2', './sql/x.sql:1:2'],
  ['/home/mai/.cache/dieu45', '~/.cache/dieu45'],
  ['"/home/mai"', '"~"'],
  ['/home/mailing/list', '/home/mailing/list'],
  ['/tmp/dieu45-x/log', '<tmp>/dieu45-x/log'],
  ['connect to builder-7: refused', 'connect to <host>: refused'],
  ['builder-70', 'builder-70'],
  ['getaddrinfo ENOTFOUND db.example.org', 'getaddrinfo ENOTFOUND <host>'],
  ['password "s3cr/t" failed', 'password "<password>" failed'],
  ['postgres://ci:s3cr%2Ft@db.example.org:5432/queue', '<url>'],
  ['a plain text', 'a plain text'],
])('%s becomes %s', (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

test('every string of a value is redacted, and nothing else changes', () => {
  const value = { a: ['/tmp/x', 1, null, { b: '/home/mai' }], '/tmp': true };
  expect(redactDeep(value, redact)).toEqual({ a: ['<tmp>/x', 1, null, { b: '~' }], '/tmp': true });
});

test('a root folder, a short name and localhost hide nothing', () => {
  const none = redactor(
    privateTexts({
      root: '/',
      home: '/',
      tmp: '/',
      hostname: 'db',
      target: 'postgres://localhost/x',
    }),
  );
  expect(none('/a/db on localhost')).toBe('/a/db on localhost');
});
