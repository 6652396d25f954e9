import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readManifest } from '../manifest/load.ts';
import { aCheck } from '../verdict/samples.ts';
import { kinds, runnerOf } from './registry.ts';

const manifest = await readManifest(
  fileURLToPath(new URL('../../selftest/dieu45.yaml', import.meta.url)),
);

test('every kind that the manifest has a built check of has a runner that loads', async () => {
  const built = manifest.clauses.flatMap(({ checks }) =>
    checks.filter(({ planned }) => planned === undefined),
  );
  for (const kind of new Set(built.map((spec) => spec.kind)))
    expect(await runnerOf(kinds, kind)).toBeTypeOf('function');
});

test('a kind without a runner is our own gap, and says what to do', async () => {
  await expect(runnerOf({}, aCheck().kind)).rejects.toMatchObject({
    exitCode: 70,
    hint: expect.stringContaining('planned') as string,
  });
});
