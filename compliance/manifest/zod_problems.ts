import type { z } from 'zod';
import type { Problem } from './problem.ts';
import type { Path, Source } from './source.ts';
import { didYouMean, nearest } from './suggest.ts';

/**
 * Holds the values of a source against a schema and says every mistake at its place, in words for
 * the person who wrote the file. One mistake gives one problem: a mistyped key is not also reported
 * as missing.
 */
export function schemaProblems(schema: z.ZodType, source: Source): Problem[] {
  const knownKeys = new Map<string, string[]>();
  const result = schema.safeParse(source.data, {
    error: (issue) => {
      if (issue.code === 'unrecognized_keys') {
        knownKeys.set(pathKey(issue.path ?? []), shapeKeys(issue.inst));
      }
      return describe(issue);
    },
  });
  if (result.success) return [];
  const issues = result.error.issues;
  const mistyped = new Set(
    issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) =>
            pathKey([...issue.path, nearest(key, knownKeys.get(pathKey(issue.path)) ?? []) ?? '']),
          )
        : [],
    ),
  );
  return issues
    .filter((issue) => !missingKeys(issue).some((path) => mistyped.has(pathKey(path))))
    .flatMap((issue) => problemsOf(issue, source, knownKeys.get(pathKey(issue.path)) ?? []));
}

/** What a rule puts into `params` of a custom issue: the keys of which one would have to be there. */
export type MissingOneOf = { missing: readonly string[] };

/** The paths whose absence the issue complains about. */
function missingKeys(issue: z.core.$ZodIssue): Path[] {
  if (issue.message.startsWith(missing)) return [issue.path];
  if (issue.code !== 'custom') return [];
  const { missing: keys = [] } = (issue.params ?? {}) as Partial<MissingOneOf>;
  return keys.map((key) => [...issue.path, key]);
}

function problemsOf(issue: z.core.$ZodIssue, source: Source, known: string[]): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      ...source.atKey([...issue.path, key]),
      message: `unknown key "${key}"${didYouMean(key, known)}`,
    }));
  }
  if (issue.code === 'invalid_key') {
    const inner = issue.issues[0]?.message ?? issue.message;
    return [{ ...source.atKey(issue.path), message: `"${String(issue.path.at(-1))}": ${inner}` }];
  }
  if (issue.message.startsWith(missing)) {
    return [{ ...source.atKey(issue.path.slice(0, -1)), message: issue.message }];
  }
  return [{ ...source.at(issue.path), message: issue.message + quotesHint(issue, source) }];
}

const missing = 'missing key';

function describe(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && ['invalid_type', 'invalid_value'].includes(issue.code)) {
    return `${missing} "${String(issue.path?.at(-1) ?? '')}"`;
  }
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${typeNames[issue.expected] ?? issue.expected}, found ${nameOf(issue.input)}`;
    case 'invalid_value': {
      const values = issue.values.map(String);
      const guess = typeof issue.input === 'string' ? didYouMean(issue.input, values) : '';
      return `expected ${values.join(', ').replace(/, ([^,]*)$/, ' or $1')}, found ${nameOf(issue.input)}${guess}`;
    }
    case 'too_small':
      if (issue.origin === 'string') return 'the text is empty';
      if (issue.origin === 'array') return 'the list is empty';
      return issue.inclusive === false
        ? `must be more than ${issue.minimum}`
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    default:
      return undefined;
  }
}

const typeNames: Record<string, string> = {
  string: 'text',
  array: 'a list',
  object: 'keys with values',
  record: 'keys with values',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

function nameOf(input: unknown): string {
  if (input === null) return 'nothing';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'object') return 'keys with values';
  return typeof input === 'string' ? `the text "${input.slice(0, 40)}"` : JSON.stringify(input);
}

/** `2.0` without quotes is a number to YAML, and most people do not expect that. */
function quotesHint(issue: z.core.$ZodIssue, source: Source): string {
  if (issue.code !== 'invalid_type' || issue.expected !== 'string') return '';
  const typed = source.typed(issue.path);
  return typed === undefined || typed === '' ? '' : `; write it in quotes: '${typed}'`;
}

function shapeKeys(inst: unknown): string[] {
  const def = (inst as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def;
  return Object.keys(def?.shape ?? {});
}

function pathKey(path: Path): string {
  return JSON.stringify(path);
}
