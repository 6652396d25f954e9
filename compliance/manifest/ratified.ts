/**
 * What the Council decided of the open questions of DP3 §11 (kit.md, "Ratification"). A question
 * without a decision is open, and is shown so; it is never taken as agreed.
 */
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { KitError, messageOf } from '../errors.ts';
import type { Text, Where } from '../types.ts';
import { refuseProblems, type Problem } from './problem.ts';
import { clauseId, filled, vietnamese } from './schema.ts';
import { readSource, type Source } from './source.ts';
import { didYouMean } from './suggest.ts';
import { schemaProblems } from './zod_problems.ts';

export type Ratification = {
  /** `DP3-Q1`. */
  id: string;
  question: Text;
  routedTo: string;
  /** The clause that a deviation from the ratified value breaks. */
  clause: string;
  /** The key in dot_config whose deployed value is compared; some questions have none. */
  key?: string;
  /** The default that the design document proposes. */
  proposed: string;
  /** What the kit would choose, and why. */
  recommended: { value: string; because: Text };
  decision: { is: 'open' } | { is: 'ratified'; value: string; date: string };
  at: Where;
};

const text = z.strictObject({ en: filled, vi: vietnamese });

const decided = ['value', 'date'] as const;

const questionSchema = z
  .strictObject({
    id: z.string().regex(/^[A-Z0-9]+-Q[0-9]+$/, 'a question is named like DP3-Q1'),
    question: text,
    routed_to: filled.describe('Who decides, as the document says.'),
    clause: clauseId.describe('The clause that another deployed value breaks.'),
    key: z
      .string()
      .regex(
        /^queue(\.[a-z_]+)+$/,
        'a key of dot_config is written like queue.lease.ttl_seconds.default',
      )
      .optional()
      .describe('The key in dot_config whose deployed value is compared.'),
    proposed: filled.describe('The default that the document proposes.'),
    recommended: z.strictObject({ value: filled, because: text }),
    decision: z.enum(['open', 'ratified']),
    value: filled.optional().describe('The ratified value.'),
    date: z.iso
      .date('a date is written as 2026-05-26')
      .optional()
      .describe('When it was ratified.'),
  })
  .superRefine(
    (question: unknown, context) => {
      const { decision, ...rest } = (question ?? {}) as Partial<Record<string, unknown>>;
      for (const key of decided) {
        const given = rest[key] !== undefined;
        if (decision === 'ratified' && !given) {
          context.addIssue({ code: 'custom', path: [key], message: `missing key "${key}"` });
        }
        if (decision === 'open' && given) {
          const message = `an open question has no ${key}: remove it, or set decision to ratified`;
          context.addIssue({ code: 'custom', path: [key], message });
        }
      }
    },
    { when: () => true },
  )
  .meta({
    if: { properties: { decision: { const: 'ratified' } } },
    then: { required: [...decided] },
    else: { not: { anyOf: decided.map((key) => ({ required: [key] })) } },
  });

export const ratifiedSchema = z.strictObject({ questions: z.array(questionSchema).min(1) });

/**
 * The decisions from their text. `clauses`: the ids that a question may name.
 *
 * @throws KitError 65 whose message has a line for every problem, in the order of the file.
 */
export function parseRatified(
  text: string,
  file: string,
  clauses: readonly string[],
): Ratification[] {
  const source = readSource(text, file);
  const readable = source.data !== undefined;
  refuseProblems([
    ...source.problems,
    ...(readable ? schemaProblems(ratifiedSchema, source) : []),
    ...(readable ? ruleProblems(source, clauses) : []),
  ]);
  const { questions } = ratifiedSchema.parse(source.data);
  return questions.map(({ routed_to: routedTo, decision, value, date, key, ...rest }, index) => ({
    ...rest,
    routedTo,
    ...(key === undefined ? {} : { key }),
    decision:
      decision === 'ratified' && value !== undefined && date !== undefined
        ? { is: 'ratified', value, date }
        : { is: 'open' },
    at: source.at(['questions', index]),
  }));
}

/** The decisions of a file. @throws KitError as parseRatified does, and when it cannot be read. */
export async function loadRatified(
  path: string,
  clauses: readonly string[],
): Promise<Ratification[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (thrown) {
    throw new KitError(65, `cannot read the Council's decisions: ${messageOf(thrown)}`);
  }
  return parseRatified(text, `${basename(dirname(path))}/${basename(path)}`, clauses);
}

const loose = z.object({ questions: z.array(z.unknown()) });
const looseQuestion = z.object({ id: z.string().catch(''), clause: z.string().catch('') });

function ruleProblems(source: Source, clauses: readonly string[]): Problem[] {
  const read = loose.safeParse(source.data);
  if (!read.success) return [];
  const seen = new Set<string>();
  return read.data.questions.flatMap((value, index): Problem[] => {
    const question = looseQuestion.safeParse(value).data;
    if (question === undefined) return [];
    const { id, clause } = question;
    const again = id !== '' && seen.has(id);
    seen.add(id);
    const unknown = clauseId.safeParse(clause).success && !clauses.includes(clause);
    return [
      ...(again
        ? [{ ...source.at(['questions', index, 'id']), message: `question "${id}" is repeated` }]
        : []),
      ...(unknown
        ? [
            {
              ...source.at(['questions', index, 'clause']),
              message: `unknown clause "${clause}"${didYouMean(clause, clauses)}`,
            },
          ]
        : []),
    ];
  });
}
