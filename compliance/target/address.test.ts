import pg from 'pg';
import { expect, test } from 'vitest';
import { describeAddress, readAddress, urlOf } from './address.ts';

const bare = {
  host: 'localhost',
  port: '5432',
  user: 'me',
  password: undefined,
  database: 'me',
  sslmode: 'prefer',
};

test.each([
  ['postgres://', {}, bare],
  ['postgres:///shop', {}, { ...bare, database: 'shop' }],
  [
    'postgres://a:b%40c@h:99/d?sslmode=require',
    {},
    { host: 'h', port: '99', user: 'a', password: 'b@c', database: 'd', sslmode: 'require' },
  ],
  ['postgresql://a@[::1]/', {}, { ...bare, host: '::1', user: 'a', database: 'a' }],
  [
    'postgres://h/d?host=/run/pg&port=7&user=u&password=p',
    {},
    { host: '/run/pg', port: '7', user: 'u', password: 'p', database: 'd', sslmode: 'prefer' },
  ],
  ['postgres://%2Frun%2Fpg/d', {}, { ...bare, host: '/run/pg', database: 'd' }],
  [
    'postgres://',
    {
      PGHOST: 'e',
      PGPORT: '1',
      PGUSER: 'u',
      PGPASSWORD: 'p',
      PGDATABASE: 'b',
      PGSSLMODE: 'disable',
    },
    { host: 'e', port: '1', user: 'u', password: 'p', database: 'b', sslmode: 'disable' },
  ],
  [
    'postgres://a:x@h:2/d?sslmode=require',
    {
      PGHOST: 'e',
      PGPORT: '1',
      PGUSER: 'u',
      PGPASSWORD: 'p',
      PGDATABASE: 'b',
      PGSSLMODE: 'disable',
    },
    { host: 'h', port: '2', user: 'a', password: 'x', database: 'd', sslmode: 'require' },
  ],
])('%s with %j is read as libpq would', (text, env, address) => {
  expect(readAddress(text, env, 'me')).toMatchObject(address);
});

test('an sslmode that does not exist is a usage error', () => {
  expect(() => readAddress('postgres://h/d?sslmode=on', {}, 'me')).toThrow(
    expect.objectContaining({ exitCode: 64 }),
  );
});

test.each([
  ['postgres://a%20b:p%2F%3A%40@h:99/d', {}],
  ['postgres://u@h/đ ô', {}],
  ['postgres://u@[::1]:3/d', {}],
  ['postgres://u:p@/d?host=/run/a%20b', {}],
])('%s comes out as a URL that node-postgres reads the same way', (text, env) => {
  const address = readAddress(text, env, 'me');
  const client = new pg.Client(urlOf({ ...address, sslmode: 'disable' }, 'dieu45_x'));
  expect(client).toMatchObject({
    host: address.host,
    port: Number(address.port),
    user: address.user,
    database: 'dieu45_x',
  });
  expect(client.password ?? undefined).toBe(address.password);
});

test('parameters are kept, but not a name that sessions set for themselves', () => {
  const address = readAddress(
    'postgres://u@h/d?options=-c%20jit%3Doff&application_name=x',
    {},
    'me',
  );
  const url = new URL(urlOf(address, 'e'));
  expect(url.searchParams.get('options')).toBe('-c jit=off');
  expect(url.searchParams.has('application_name')).toBe(false);
});

test('a description holds no password', () => {
  expect(describeAddress(readAddress('postgres://u:secret@h/d?sslkey=secret', {}, 'me'))).toBe(
    'u@h:5432/d',
  );
});
