import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../../types.ts';
import { run } from './index.ts';
import { brokenOf, installQueue, openServer, runCheck } from './testing.ts';

let server: Server;
beforeAll(async () => {
  server = await openServer();
  await server.template('queue', installQueue);
  await server.template('empty', () => Promise.resolve());
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

test('a race says, case by case, its assertions and three more, and counts what it saw', async () => {
  await using sandbox = await server.sandbox('queue');
  const seen = await runCheck(run, 'selftest/races/claim-never-waits.yaml', sandbox);
  expect(brokenOf(seen)).toEqual({});
  expect(seen.filter(({ is }) => is === 'assertion')).toHaveLength(3 * (5 + 3));
  const orders = seen.filter((one) => one.is === 'count' && one.name === 'orders');
  expect(orders).toHaveLength(3);
});

test('on an empty database a race fails and names what is missing', async () => {
  await using sandbox = await server.sandbox('empty');
  const seen = await runCheck(run, 'selftest/races/claim-never-waits.yaml', sandbox);
  expect(Object.keys(brokenOf(seen))).toEqual(['fn_job_enqueue of the contract is there']);
});
