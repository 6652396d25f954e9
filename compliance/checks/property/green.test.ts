/** Each property is green on the queue as it stands in `sql/`. */
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

test.each(['poison'])('%s is green', { timeout: 300_000 }, async (property) => {
  await using sandbox = await server.sandbox('queue');
  const { seen, threw } = await told(run, sandbox, [
    spec('property', `selftest/property/${property}.yaml`, 's0'),
  ]);
  console.log(JSON.stringify(seen.filter((o) => o.is === 'count')));
  expect(threw).toBeUndefined();
  expect(seen.filter((one) => one.is === 'assertion' && !one.ok)).toEqual([]);
});
