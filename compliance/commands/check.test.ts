import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { goodManifest } from '../manifest/samples.ts';
import { textHash } from '../manifest/text_hash.ts';
import { check } from './check.ts';
import { recordingIo } from './recording.ts';

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

/** A project on disk with this manifest, and the files that the good one names. */
async function projectWith(manifest: string, ratified?: string): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'dieu45-check-'));
  folders.push(root);
  for (const file of ['selftest/timed/kill.yaml', 'selftest/pgtap/lease.sql']) {
    await mkdir(join(root, file, '..'), { recursive: true });
    await writeFile(join(root, file), '');
  }
  await writeFile(join(root, 'selftest/dieu45.yaml'), manifest);
  if (ratified !== undefined) await writeFile(join(root, 'selftest/ratified.yaml'), ratified);
  return root;
}

const hashes = {
  's8.3': textHash({ en: 'A job is held under a lease.', vi: 'Job được giữ bằng lease.' }),
  's8.4': textHash({
    en: 'A job that may not run again becomes a dead letter.',
    vi: 'Job không được chạy nữa trở thành dead letter.',
  }),
};
const reviewed = goodManifest
  .replace('    impact: 1\n', `    impact: 1\n    text_hash: ${hashes['s8.3']}\n`)
  .replace('    impact: 0.9\n', `    impact: 0.9\n    text_hash: ${hashes['s8.4']}\n`);

test('a manifest without a mistake is counted', async () => {
  const { io, out, err } = recordingIo({ root: await projectWith(reviewed) });
  expect(await check({}, io)).toBe(0);
  expect(out()).toBe('selftest/dieu45.yaml: 2 clauses, 3 checks: 2 built, 1 planned\n');
  expect(err()).toBe('');
});

test('three mistakes are three lines and 65', async () => {
  const text = reviewed
    .replace('[s8.3]', '[s8.33]')
    .replace('impact: 0.9', 'impact: 9')
    .replace('lease.sql', 'leese.sql');
  const { io, out, err } = recordingIo({ root: await projectWith(text) });
  expect(await check({}, io)).toBe(65);
  expect(err().split('\n')).toEqual([
    'selftest/dieu45.yaml:10:17: unknown clause or check "s8.33"; did you mean s8.3?',
    'selftest/dieu45.yaml:45:15: no file "selftest/pgtap/leese.sql"; did you mean selftest/pgtap/lease.sql?',
    'selftest/dieu45.yaml:53:13: must be at most 1',
    '',
  ]);
  expect(out()).toBe('');
});

test('a clause whose text changed under its checks is a coverage gap, with the hash to paste', async () => {
  const text = reviewed.replace('A job is held under', 'A job may be held under');
  const { io, err } = recordingIo({ root: await projectWith(text) });
  expect(await check({}, io)).toBe(3);
  const hash = textHash({ en: 'A job may be held under a lease.', vi: 'Job được giữ bằng lease.' });
  expect(err()).toBe(
    `selftest/dieu45.yaml:23:5: the text of s8.3 has changed since the review; once its checks prove this text, set text_hash: ${hash}\n`,
  );
});

test('a clause without a check is a coverage gap', async () => {
  const text = `${reviewed.slice(0, reviewed.lastIndexOf('    checks:'))}    checks: []\n`;
  const { io, err } = recordingIo({ root: await projectWith(text) });
  expect(await check({}, io)).toBe(3);
  expect(err()).toBe(
    'selftest/dieu45.yaml:47:5: clause s8.4 has no check; add one, at least as planned with the reason\n',
  );
});

test("mistakes in the Council's decisions are found too", async () => {
  const { io, err } = recordingIo({ root: await projectWith(reviewed, 'questions: []\n') });
  expect(await check({}, io)).toBe(65);
  expect(err()).toBe('selftest/ratified.yaml:1:12: the list is empty\n');
});

test('a file that is not there is a wrong argument', async () => {
  const { io } = recordingIo({ root: await projectWith(reviewed) });
  await expect(check({ manifest: 'none.yaml' }, io)).rejects.toMatchObject({ exitCode: 64 });
});

test('the manifest of this project has no mistake', async () => {
  const { io, out, err } = recordingIo({ root: fileURLToPath(new URL('../..', import.meta.url)) });
  expect([await check({}, io), err()]).toEqual([0, '']);
  expect(out()).toContain('17 clauses');
});
