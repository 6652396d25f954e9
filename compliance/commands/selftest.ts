/**
 * `dieu45 selftest DOC`: reads the self_test block of a design document and answers key by key: proven,
 * refuted, not reviewed or not applicable, with the checks that say so.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { createColors } from 'picocolors';
import { KitError, messageOf } from '../errors.ts';
import { loadManifest } from '../manifest/load.ts';
import { readSelfTestBlock } from '../manifest/self_test_block.ts';
import { exits } from '../verdict/exit.ts';
import { answerKeys, exitOfKeys, type KeyAnswer, type KeyStatus } from '../verdict/self_test.ts';
import { judgeAll } from './gate.ts';
import type { Io } from './io.ts';

export type SelfTestOptions = { target?: string; manifest?: string; seed?: number };

/**
 * Runs the checks that the document's keys are bound to, and answers. Returns 0, 1 (a key is refuted), 2
 * (a key is not reviewed) or 70. Throws KitError 64 when the document cannot be read, 65 when it has no
 * block.
 */
export async function selftest(file: string, options: SelfTestOptions, io: Io): Promise<number> {
  const document = await readDocument(resolve(io.cwd, file));
  const claims = readSelfTestBlock(document, file);
  const manifest = await loadManifest(
    resolve(io.cwd, options.manifest ?? join(io.root, 'selftest/dieu45.yaml')),
  );
  const digest = createHash('sha256').update(document).digest('hex');
  if (!manifest.document.sources.some(({ sha256 }) => sha256 === digest)) {
    io.err.write(
      `note: ${basename(file)} is not a source of the manifest (its text has changed, or it is another document)\n`,
    );
  }
  const only = claims.flatMap(({ key }) => {
    const binding = manifest.selfTest[key];
    return binding === undefined || 'notApplicable' in binding ? [] : binding.provenBy;
  });
  const report = await judgeAll(
    {
      ...options,
      only: [...new Set(only)],
      profile: 'ci',
      reporters: [],
      lang: 'en',
      timings: false,
      quiet: true,
      verbose: false,
    },
    { ...io, out: { write: () => undefined } },
  );
  const answers = answerKeys(claims, manifest.selfTest, report);
  for (const answer of answers) io.out.write(lines(answer, io));
  io.out.write(`\n${summary(answers)}\n`);
  return exitOfKeys(answers);
}

async function readDocument(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new KitError(
      exits.usage,
      messageOf(error),
      'name a design document: dieu45 selftest DOC',
    );
  }
}

const words: Readonly<Record<KeyStatus, string>> = {
  proven: 'proven',
  refuted: 'refuted',
  error: 'error',
  not_reviewed: 'not reviewed',
  not_applicable: 'not applicable',
};

function lines({ key, claim, status, because }: KeyAnswer, io: Io): string {
  const { green, red, yellow, dim } = createColors(io.color);
  const paint = {
    proven: green,
    refuted: red,
    error: red,
    not_reviewed: yellow,
    not_applicable: dim,
  };
  return [
    `${paint[status](words[status].padEnd(14))}  ${key}: ${claim}`,
    ...because.map((line) => `${' '.repeat(16)}${dim(line)}`),
    '',
  ].join('\n');
}

function summary(answers: readonly KeyAnswer[]): string {
  return (Object.keys(words) as KeyStatus[])
    .map(
      (status) =>
        [answers.filter((answer) => answer.status === status).length, words[status]] as const,
    )
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(', ');
}
