/** Reads what a call answered and holds it against what is documented (selftest/property/answers.yaml). */
import { z } from 'zod';
import { readDataFile } from '../data_file.ts';
import type { Attempt } from './attempt.ts';
import type { Signature } from './signature.ts';
import {
  effectProblem,
  isObject,
  refusalProblem,
  refuses,
  typeWords,
  type Documented,
} from './shape.ts';

const name = z.string().regex(/^[a-z][a-z0-9_]*$/, 'a name of lower-case letters and underscores');
const typeOf = z
  .string()
  .refine(
    (text) => text.split(' or ').every((word) => typeWords.includes(word)),
    `a type is one of ${typeWords.join(', ')}, or several joined by " or "`,
  );
const effect = z
  .record(
    z.string().regex(/^[a-z_]+\??$/, 'a key is a name, with ? where it may be absent'),
    typeOf,
  )
  .describe('Exactly these keys, each of its type.');

const answersFile = z.strictObject({
  reasons: z
    .record(name, z.array(name))
    .describe('Reason of the contract → the keys that it brings.'),
  answers: z.record(name, z.strictObject({ refusals: z.array(name), effect })),
});
export type Answers = z.infer<typeof answersFile>;

/** @throws KitError 65 for mistakes in the file. */
export async function loadAnswers(root: string): Promise<Answers> {
  return (await readDataFile(answersFile, 'selftest/property/answers.yaml', root)).data;
}

export type Reading = {
  /** The refusal that was returned or raised; unset for an effect. */
  refusal?: Readonly<Record<string, unknown>>;
  /** What is wrong with the answer; unset when it is documented. */
  problem?: string;
};

/** Reads an answer, or a D4500. Any other raised error is not for here. */
export function readAnswer(
  fn: Pick<Signature, 'name' | 'returnsRows'>,
  seen: Attempt,
  answers: Answers,
): Reading {
  const documented = answers.answers[fn.name];
  const refusal = refusalOf(fn, seen);
  if (documented === undefined)
    return { ...(refusal && { refusal }), problem: 'its answer is not documented' };
  const problem =
    refusal === undefined
      ? effectsProblem(fn, seen.answer, documented, answers)
      : refusalProblem(refusal, documented, answers.reasons);
  return { ...(refusal && { refusal }), ...(problem !== undefined && { problem }) };
}

function refusalOf(
  fn: Pick<Signature, 'returnsRows'>,
  { answer, raised }: Attempt,
): Readonly<Record<string, unknown>> | undefined {
  if (raised === undefined) return !fn.returnsRows && refuses(answer) ? answer : undefined;
  try {
    const detail: unknown = JSON.parse(raised.detail ?? '');
    return refuses(detail) ? detail : {};
  } catch {
    return {};
  }
}

function effectsProblem(
  fn: Pick<Signature, 'name' | 'returnsRows'>,
  answer: unknown,
  documented: Documented,
  { answers, reasons }: Answers,
): string | undefined {
  if (fn.returnsRows) {
    const rows = Array.isArray(answer) ? answer : [];
    return firstProblem(rows.map((row) => effectProblem(row, documented.effect)));
  }
  const problem = effectProblem(answer, documented.effect);
  if (problem !== undefined || !isObject(answer) || !Array.isArray(answer.results)) return problem;
  // A batch answers for each item as the single call does, or with a refusal of the batch's list.
  const single = answers[fn.name.replace(/_batch$/, '')];
  const items: unknown[] = answer.results;
  return firstProblem(
    items.map((item, index) => {
      const its = refuses(item)
        ? refusalProblem(item, documented, reasons)
        : single && effectProblem(item, single.effect);
      return its && `result ${index}: ${its}`;
    }),
  );
}

function firstProblem(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}
