import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CoverageError, KitError } from '../errors.ts';
import type { Observation, RunCheck, Sandbox, Task } from '../types.ts';
import { aCheck, anAssertion } from '../verdict/samples.ts';
import { execute, type Execution } from './execute.ts';

const spec = aCheck();
const task: Task = { kind: spec.kind, file: spec.file, specs: [spec] };

/** A sandbox that only knows whether it is open: no check here talks to a database. */
function bench(run: RunCheck, wanted: Partial<Execution> = {}) {
  const seen = { opened: 0, closed: 0, scratch: '' };
  const sandbox = {
    [Symbol.asyncDispose]: () => {
      seen.closed += 1;
      return Promise.resolve();
    },
  } as unknown as Sandbox;
  const done = execute(task, {
    run: (one, box, given) => {
      seen.scratch = given.scratch;
      return run(one, box, given);
    },
    sandbox: () => {
      seen.opened += 1;
      return Promise.resolve(sandbox);
    },
    root: '/p',
    seed: 7,
    exhaustive: false,
    limitMs: 10_000,
    graceMs: 20,
    signal: new AbortController().signal,
    progress: () => undefined,
    ...wanted,
  });
  return { done, seen };
}

async function expectClean(seen: { opened: number; closed: number; scratch: string }) {
  expect([seen.opened, seen.closed]).toEqual([1, 1]);
  await expect(access(seen.scratch)).rejects.toThrow('ENOENT');
}

test('what a check says is kept in order, and it completed', async () => {
  const { done, seen } = bench(async function* () {
    yield anAssertion(true, 'first');
    await delay(1);
    yield anAssertion(false, 'second');
  });
  const executed = await done;
  expect(executed.ended.how).toBe('completed');
  expect(executed.seen).toEqual([anAssertion(true, 'first'), anAssertion(false, 'second')]);
  await expectClean(seen);
});

test.each<[Error, string]>([
  [new CoverageError('no file matched'), 'coverage'],
  [new Error('no such folder'), 'kit'],
  [new KitError(69, 'the server is gone'), 'kit'],
])('%s keeps what was seen before, and its cause is %s', async (error, cause) => {
  const { done, seen } = bench(async function* () {
    yield anAssertion();
    await delay(1);
    throw error;
  });
  const { seen: observed, ended } = await done;
  expect(observed).toEqual([anAssertion()]);
  expect(ended).toMatchObject({ how: 'threw', cause, message: error.message });
  await expectClean(seen);
});

test('a check that stops when its limit is reached has timed out, whatever it throws then', async () => {
  const { done, seen } = bench(
    async function* (_, __, { signal }) {
      yield anAssertion();
      await delay(60_000, undefined, { signal });
    },
    { limitMs: 10 },
  );
  const { ended, seen: observed } = await done;
  expect(ended.how).toBe('timed_out');
  expect(observed).toEqual([anAssertion()]);
  await expectClean(seen);
});

test('a check that ignores its signal is given up, and its sandbox is closed all the same', async () => {
  const { done, seen } = bench(
    async function* () {
      yield anAssertion();
      await new Promise(() => undefined);
    },
    { limitMs: 10 },
  );
  expect((await done).ended.how).toBe('timed_out');
  await expectClean(seen);
});

test('what a given-up check says later is not heard', async () => {
  let wake: () => void = () => undefined;
  const { done } = bench(
    async function* () {
      await new Promise<void>((resolve) => (wake = resolve));
      yield anAssertion();
    },
    { limitMs: 10 },
  );
  const { seen } = await done;
  wake();
  await delay(5);
  expect(seen).toEqual([]);
});

test('when the whole run is aborted it throws the reason, after cleaning up', async () => {
  const aborter = new AbortController();
  const { done, seen } = bench(
    async function* (_, __, { signal }) {
      yield anAssertion();
      aborter.abort(new KitError(130, 'interrupted'));
      await delay(60_000, undefined, { signal });
    },
    { signal: aborter.signal },
  );
  await expect(done).rejects.toMatchObject({ exitCode: 130 });
  await expectClean(seen);
});

test('a sandbox that cannot be made is our own breakage', async () => {
  const { done } = bench(
    async function* () {
      yield await Promise.resolve(anAssertion());
    },
    { sandbox: () => Promise.reject(new Error('too many connections')) },
  );
  expect((await done).ended).toMatchObject({ how: 'threw', cause: 'kit' });
});

test('an observation for a check that is not in the task is our own breakage, not silence', async () => {
  const { done } = bench(async function* () {
    yield await Promise.resolve<Observation>({ ...anAssertion(), check: 's1.hodls' });
  });
  expect((await done).ended).toMatchObject({
    how: 'threw',
    message: 'an observation names "s1.hodls", which is no check of this task',
  });
});

const withFile: RunCheck = async function* (_, __, { scratch }) {
  const path = join(scratch, 'suite.tap');
  await writeFile(path, '1..1\n');
  yield { is: 'file', name: 'suite.tap', path };
  yield anAssertion();
};

test('an evidence file is kept before its folder goes, and its new path reported', async () => {
  const kept: string[] = [];
  const { done } = bench(withFile, {
    keep: async ({ path }) => {
      await access(path);
      kept.push(path);
      return 'evidence/s1/suite.tap';
    },
  });
  expect((await done).seen[0]).toEqual({
    is: 'file',
    name: 'suite.tap',
    path: 'evidence/s1/suite.tap',
  });
  expect(kept).toHaveLength(1);
});

test('without a bundle, files are not reported', async () => {
  expect((await bench(withFile).done).seen).toEqual([anAssertion()]);
});
