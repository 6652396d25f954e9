/**
 * The shape of the manifest: the one source of what the parser accepts and of the JSON Schema that
 * editors read. Rules that JSON Schema can say stand here, beside their `meta`; rules across
 * entries (references, repeated ids) stand in rules.ts.
 */
import { z } from 'zod';
import { paramsOf } from './params.ts';
import type { MissingOneOf } from './zod_problems.ts';

export const filled = z.string().regex(/\S/, 'the text is empty');
const release = z.string().regex(/^\d+\.\d+$/, "a release is written as '2.0'");
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'a sha256 is 64 hexadecimal digits');

/** `s8.3`, `dp3.5`, `self_test`: a token that every export accepts as an id. */
export const clauseId = z
  .string()
  .regex(/^[a-z][a-z0-9_]*(\.[0-9]+)*$/, 'a clause id is a token like s8.3, without § and blanks');
const checkId = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]*(\.[0-9]+)*\.[a-z][a-z0-9]*(-[a-z0-9]+)*$/,
    'a check id is its clause, a dot and a kebab-case name, like s8.3.killed-worker-is-reaped',
  );
const anyId = filled.describe('A clause id (all its checks) or a check id.');

export const vietnamese = z
  .string()
  .regex(/[\u00C0-\u024F\u1E00-\u1EFF]/, 'the Vietnamese text has no diacritic: is it Vietnamese?');
const oneParagraph = /^[^\n]*\S[^\n]*\n?$/;

const title = z.strictObject({ en: filled, vi: filled });
const statement = z
  .strictObject({
    en: z.string().regex(oneParagraph, 'a statement is one paragraph: begin it with >-'),
    vi: vietnamese.regex(oneParagraph, 'a statement is one paragraph: begin it with >-'),
  })
  .describe('What the clause demands, in one paragraph of our own words.');

/** A list in which nothing stands twice. */
function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .array(item)
    .superRefine(
      (items, context) => {
        if (!Array.isArray(items)) return;
        items.forEach((value: unknown, index) => {
          if (items.indexOf(value as never) === index) return;
          context.addIssue({
            code: 'custom',
            path: [index],
            message: `${String(value)} is listed twice`,
          });
        });
      },
      { when: () => true },
    )
    .meta({ uniqueItems: true });
}

/** An object that has either one set of keys or the other, never both and never neither. */
function eitherOr(
  one: readonly string[],
  other: readonly string[],
  words: { both: string; neither: string },
) {
  const has = (value: unknown, key: string) =>
    typeof value === 'object' &&
    value !== null &&
    (value as Record<string, unknown>)[key] !== undefined;
  return {
    rule: (value: unknown, context: z.core.$RefinementCtx): void => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
      const extra = other.find((key) => has(value, key));
      if (one.some((key) => has(value, key))) {
        if (extra !== undefined)
          context.addIssue({ code: 'custom', path: [extra], message: words.both });
        return;
      }
      const absent = other.filter((key) => !has(value, key));
      if (extra === undefined) {
        const params: MissingOneOf = { missing: [...one, ...other] };
        context.addIssue({ code: 'custom', message: words.neither, params });
        return;
      }
      for (const key of absent) {
        context.addIssue({ code: 'custom', path: [key], message: `missing key "${key}"` });
      }
    },
    meta: {
      oneOf: [
        { required: [...one], not: { anyOf: other.map((key) => ({ required: [key] })) } },
        { required: [...other], not: { anyOf: one.map((key) => ({ required: [key] })) } },
      ],
    },
  };
}

const builtOrPlanned = eitherOr(['planned'], ['file', 'expects'], {
  both: 'a planned check has no file and expects nothing: remove them, or planned when it is built',
  neither: 'a check has file and expects, or planned with the reason why it is not built yet',
});

export const kindSchema = z.enum([
  'catalog',
  'pgtap',
  'race',
  'explore',
  'claimers',
  'timed',
  'matrix',
  'property',
  'plan',
]);

export const checkSchema = z
  .strictObject({
    id: checkId.describe('<clause>.<kebab-name>'),
    title: filled.describe('One English sentence: what a green of this check shows.'),
    kind: kindSchema,
    file: filled.optional().describe('Path relative to the project root.'),
    expects: z
      .int()
      .min(1)
      .optional()
      .describe('How many assertions must arrive; fewer or more is a coverage error.'),
    must_observe: z
      .record(
        z
          .string()
          .regex(/^[a-z][a-z0-9_-]*$/, 'a count is named in lower-case letters, digits, _ and -'),
        z.int().min(1),
      )
      .optional()
      .describe('Counts that must be reached for a green to mean anything; less is unknown.'),
    needs: listOf(z.enum(['own_server', 'superuser', 'server_kill', 'extension_files', 'pgtap']))
      .optional()
      .describe('What the check needs of its server beyond a database.'),
    limit_seconds: z
      .number()
      .gt(0)
      .max(3600)
      .optional()
      .describe('Time after which the check ends in error; 60 where not given.'),
    params: z.record(z.string(), z.unknown()).optional().describe('Parameters of the kind.'),
    since: release.optional().describe('First release that the check applies to.'),
    until: release.optional().describe('First release that it no longer applies to.'),
    planned: filled.optional().describe('Why the check is not built yet; it is not reviewed.'),
  })
  .superRefine(builtOrPlanned.rule, { when: () => true })
  .meta({
    ...builtOrPlanned.meta,
    allOf: kindSchema.options.map((kind) => ({
      if: { properties: { kind: { const: kind } }, required: ['kind'] },
      then: { properties: { params: partSchemaOf(paramsOf[kind]) } },
    })),
  });

export const clauseSchema = z.strictObject({
  id: clauseId,
  label: filled.describe('For display only, as the design documents cite it: §8.3.'),
  title,
  statement,
  harm: z
    .strictObject({ en: filled, vi: vietnamese })
    .optional()
    .describe('What a breach does to those who rely on the queue.'),
  impact: z.number().min(0).max(1).describe('How much harm a breach does, 0 to 1.'),
  since: release.describe('First release that the clause applies to.'),
  until: release.optional().describe('First release that it no longer applies to.'),
  modes: listOf(z.enum(['gate', 'validate']))
    .min(1)
    .describe('Where it can be checked.'),
  not_applicable: filled.optional().describe('Why the clause does not apply at all.'),
  text_hash: sha256
    .optional()
    .describe(
      'Hash of the statement that the checks were reviewed against; `dieu45 check` prints it.',
    ),
  checks: z.array(checkSchema),
});

const boundOrNot = eitherOr(['not_applicable'], ['proven_by'], {
  both: 'a key is proven by checks or not applicable, not both',
  neither: 'a key has proven_by with check or clause ids, or not_applicable with the reason',
});

const selfTestSchema = z
  .strictObject({
    proven_by: listOf(anyId).min(1).optional(),
    not_applicable: filled.optional().describe('Why no check can prove the key.'),
  })
  .superRefine(boundOrNot.rule, { when: () => true })
  .meta(boundOrNot.meta);

const profileSchema = z.strictObject({
  without: listOf(anyId).optional().describe('What this profile leaves out.'),
  kinds: listOf(kindSchema).min(1).optional().describe('Only these kinds; all where not given.'),
  require_planned: z.boolean().describe('A planned check counts against the profile.'),
  exhaustive: z
    .boolean()
    .default(false)
    .describe('Takes whole what check files sample, and ten times as many random cases.'),
});

export const manifestSchema = z.strictObject({
  document: z.strictObject({
    id: z.string().regex(/^[a-z][a-z0-9-]*$/, 'an id of lower-case letters, digits and hyphens'),
    version: filled,
    release: release.describe('The release that is judged unless told otherwise.'),
    sources: z
      .array(z.strictObject({ file: filled, sha256 }))
      .min(1)
      .describe('The design documents that the clauses are taken from.'),
  }),
  self_test: z
    .record(filled, selfTestSchema)
    .describe('Each key of the self_test block in DP3 §12: what proves it, or why nothing can.'),
  profiles: z.strictObject({
    ci: profileSchema,
    // What the Council signs leaves nothing out.
    release: z.strictObject({
      require_planned: z.literal(true),
      exhaustive: z.literal(true).default(true),
    }),
    'post-migrate': profileSchema,
  }),
  clauses: z.array(clauseSchema).min(1),
});

export type ManifestData = z.infer<typeof manifestSchema>;
export type ProfileData = z.infer<typeof profileSchema>;
export type ClauseData = z.infer<typeof clauseSchema>;
export type CheckData = z.infer<typeof checkSchema>;

/** JSON Schema draft 7, the one that YAML language servers read. */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
}

/** The same without the line that names the dialect, to stand inside another schema. */
function partSchemaOf(schema: z.ZodType): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(jsonSchemaOf(schema)).filter(([key]) => key !== '$schema'),
  );
}
