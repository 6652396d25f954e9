/** Each assertion of each property is seen red: with a fault planted, the property finds it. */
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Observation, Sandbox, Server } from '../../types.ts';
import { readDataFile } from '../data_file.ts';
import { openQueueServer, ROOT, spec } from '../testing.ts';
import { perform } from './index.ts';
import { reds } from './reds.ts';
import { propertyFile, type PropertyFile } from './schema.ts';

let server: Server;
beforeAll(async () => {
  server = await openQueueServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Fewer values, where a fault needs few to be found. */
const few = (data: PropertyFile): PropertyFile => {
  switch (data.property) {
    case 'any-value': {
      const nulls = Object.keys(data.hostile).map((type): [string, string[]] => [type, ['null']]);
      const text = ["''", "repeat('k', 201)"];
      return { ...data, runs: 1, hostile: { ...Object.fromEntries(nulls), text } };
    }
    case 'any-session':
      return { ...data, planner: false, settings: {} };
    case 'poison':
      return { ...data, runs: 1 };
    case 'config':
      return { ...data, runs: 5, bad: data.bad.slice(0, 2) };
    default:
      return data;
  }
};

test.each(reds)(
  '$file finds it: $fault',
  { timeout: 120_000 },
  async ({ file, plant, finds, all }) => {
    await using sandbox = await server.sandbox('queue');
    await plant(sandbox);
    const seen = await observe(`selftest/property/${file}.yaml`, sandbox, all);
    for (const [name, pattern] of Object.entries(finds)) {
      const told = seen.find((one) => one.is === 'assertion' && one.name === name);
      expect(told).toMatchObject({ ok: false, seen: expect.stringMatching(pattern) as unknown });
      expect(told).toHaveProperty('trace.0', '-- found with seed 1, smallest first');
    }
  },
);

test('a queue that is not there is a finding, not a breakage', async () => {
  await using sandbox = await server.sandbox('empty');
  const seen = await observe('selftest/property/backoff.yaml', sandbox).catch(
    (error: unknown) => error,
  );
  expect(seen).toMatchObject({ code: '42883' });
});

async function observe(file: string, sandbox: Sandbox, all?: true): Promise<Observation[]> {
  const { data: read } = await readDataFile(propertyFile, file, ROOT);
  // No sample: which values are drawn must not decide whether a fault is seen.
  const data = { ...read, sample: undefined };
  const specs = ['s8.5', 'd35'].map((clause) => spec('property', file, clause));
  const run = {
    seed: 1,
    exhaustive: false,
    signal: new AbortController().signal,
    root: ROOT,
    scratch: tmpdir(),
    progress: () => undefined,
  };
  const seen: Observation[] = [];
  for await (const one of perform({
    data: all ? data : few(data),
    task: { kind: 'property', file, specs },
    sandbox,
    run,
  }))
    seen.push(one);
  return seen;
}
