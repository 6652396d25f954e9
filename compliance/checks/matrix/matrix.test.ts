/** Every matrix of the project passes on the queue as it stands in `sql/`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../../types.ts';
import { openQueueServer, spec, told } from '../testing.ts';
import { run } from './index.ts';

let server: Server;
beforeAll(async () => {
  server = await openQueueServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const files: readonly (readonly [file: string, clause: string])[] = [
  ['selftest/matrix/states-by-functions.yaml', 's6.7'],
  ['selftest/matrix/zombie-calls.yaml', 's7'],
];

test.each(files)('%s holds for the queue', async (file, clause) => {
  await using sandbox = await server.sandbox('queue');
  const { seen, threw } = await told(run, sandbox, [spec('matrix', file, clause)]);
  expect(threw).toBeUndefined();
  const broken = seen.filter((one) => one.is === 'assertion' && !one.ok);
  expect(broken).toEqual([]);
});
