import { access, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { guardedFolder } from './guarded_folder.ts';

let parent = '';
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'dieu45 guarded '));
});
afterAll(async () => {
  await rm(parent, { recursive: true, force: true });
});

test('the folder is there, and gone with all that is in it once disposed of', async () => {
  const folder = await guardedFolder(parent, "it's-");
  await writeFile(join(folder.path, 'file'), 'x');
  await folder[Symbol.asyncDispose]();
  await expect(access(folder.path)).rejects.toThrow('ENOENT');
});

test('a folder that was moved away stays where it was moved to', async () => {
  const folder = await guardedFolder(parent, 'moved-');
  await rename(folder.path, join(parent, 'kept'));
  await folder[Symbol.asyncDispose]();
  expect(await readdir(parent)).toEqual(['kept']);
});

test('disposing twice is once', async () => {
  const folder = await guardedFolder(parent, 'twice-');
  await folder[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});
