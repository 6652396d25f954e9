/** Each matrix is seen red: with a fault planted, the cells that name it break, and no others. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Server } from '../../types.ts';
import { openQueueServer, spec, told } from '../testing.ts';
import { run } from './index.ts';
import { calls } from './testing_calls.ts';
import { parts } from './testing_parts.ts';

let server: Server;
beforeAll(async () => {
  server = await openQueueServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

test.each([...calls, ...parts])('$file finds $fault', async ({ names, only, ...red }) => {
  await using sandbox = await server.sandbox('queue');
  await red.plant(sandbox);
  const { seen, threw } = await told(run, sandbox, [spec('matrix', red.file, red.clause)]);
  expect(threw).toBeUndefined();
  const broken = new Map(
    seen.flatMap((one) => (one.is === 'assertion' && !one.ok ? [[one.name, one.seen ?? '']] : [])),
  );
  for (const [name, pattern] of Object.entries(names))
    expect(broken.get(name), name).toMatch(pattern);
  expect([...broken.keys()].filter((name) => !only.test(name))).toEqual([]);
});
