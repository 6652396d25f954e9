import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openBundle } from './bundle.ts';

const made: string[] = [];
let folder = '';
let file = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dieu45 bundle '));
  made.push(folder);
  file = join(folder, 'made.tap');
  await writeFile(file, 'ok 1 secret\nok 2');
});
afterAll(async () => {
  for (const one of made) await rm(one, { recursive: true, force: true });
});

const open = (path = join(folder, 'out/latest')) =>
  openBundle(path, (text) => text.replaceAll('secret', '<x>'));

test('nothing stands in its place before it is committed, and all of it afterwards', async () => {
  const place = join(folder, 'out/latest');
  await using bundle = await open();
  await bundle.write('report.json', '{}\n');
  const kept = await bundle.keep('s8.3.reaped', 'suite.tap', file);
  expect(kept).toBe('evidence/s8.3.reaped/suite.tap');
  await expect(readdir(place)).rejects.toThrow('ENOENT');
  await bundle.commit();
  expect(await readFile(join(place, kept), 'utf8')).toBe('ok 1 <x>\nok 2\n');
  expect(await readdir(join(folder, 'out'))).toEqual(['latest']);
});

test('without a commit, an earlier bundle stays and nothing else does', async () => {
  {
    await using first = await open();
    await first.write('report.json', 'first');
    await first.commit();
  }
  {
    await using second = await open();
    await second.write('report.json', 'second');
  }
  expect(await readFile(join(folder, 'out/latest/report.json'), 'utf8')).toBe('first');
  expect(await readdir(join(folder, 'out'))).toEqual(['latest']);
});

test('two files of one name are both kept', async () => {
  await using bundle = await open();
  const names = [await bundle.keep('a', 'x.tap', file), await bundle.keep('a', 'x.tap', file)];
  expect(names).toEqual(['evidence/a/x.tap', 'evidence/a/x.tap-2']);
});

test.each([
  ['../../etc', '..', 'evidence/-..-etc/file'],
  ['s8.3', 'a b/ç.json', 'evidence/s8.3/a-b-ç.json'],
])('a file of %j called %j stays inside the bundle', async (owner, name, path) => {
  await using bundle = await open();
  expect(await bundle.keep(owner, name, file)).toBe(path);
});

test('a folder that holds other things is refused, an empty one is taken', async () => {
  await expect(open(folder)).rejects.toMatchObject({ exitCode: 64 });
  expect(await readFile(file, 'utf8')).toContain('secret');
  const empty = join(folder, 'empty');
  await mkdir(empty);
  await using bundle = await open(empty);
  await bundle.write('report.json', '{}');
  await bundle.commit();
  expect(await readdir(empty)).toEqual(['report.json']);
});

test('a place that cannot be written to is a usage error with what to do', async () => {
  // A file in the way stops root too, which a mode would not.
  await expect(open(join(file, 'latest'))).rejects.toMatchObject({
    exitCode: 64,
    hint: expect.stringContaining('leave --out away') as string,
  });
});
