import type { CheckSpec, Clause, Manifest, Profile, SelfTestKey } from '../types.ts';
import type { Files } from './files.ts';
import { refuseProblems } from './problem.ts';
import { ruleProblems } from './rules.ts';
import {
  manifestSchema,
  type CheckData,
  type ClauseData,
  type ManifestData,
  type ProfileData,
} from './schema.ts';
import { readSource, type Path, type Source } from './source.ts';
import { schemaProblems } from './zod_problems.ts';

/** Where a manifest comes from. Without `files` no check file is looked for. */
export type Place = { path: string; root: string; files?: Files };

/** What a check may take when it does not say. */
const defaultLimitSeconds = 60;

/**
 * A manifest from its text. `file` is the name that problems and places carry.
 *
 * @throws KitError 65 whose message has a line for every problem, in the order of the file.
 */
export function parseManifest(
  text: string,
  file: string,
  place: Place = { path: file, root: '' },
): Manifest {
  const source = readSource(text, file);
  const readable = source.data !== undefined;
  refuseProblems([
    ...source.problems,
    ...(readable ? schemaProblems(manifestSchema, source) : []),
    ...(readable ? ruleProblems(source, place.files) : []),
  ]);
  return build(manifestSchema.parse(source.data), source, place);
}

function build(data: ManifestData, source: Source, { path, root }: Place): Manifest {
  const profiles: Record<string, ProfileData> = data.profiles;
  return {
    path,
    root,
    document: data.document,
    selfTest: Object.fromEntries(
      Object.entries(data.self_test).map(([key, value]): [string, SelfTestKey] => {
        const at = source.atKey(['self_test', key]);
        const { not_applicable: notApplicable, proven_by: provenBy = [] } = value;
        return [key, notApplicable === undefined ? { provenBy, at } : { notApplicable, at }];
      }),
    ),
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, value]): [string, Profile] => [
        name,
        {
          without: expand(value.without ?? [], data),
          requirePlanned: value.require_planned,
          exhaustive: value.exhaustive,
          ...optional({ kinds: value.kinds }),
        },
      ]),
    ),
    clauses: data.clauses.map((clause, index) => buildClause(clause, source, ['clauses', index])),
  };
}

/** A clause id among check ids stands for all its checks. */
function expand(ids: readonly string[], data: ManifestData): string[] {
  return ids.flatMap((id) => {
    const clause = data.clauses.find((candidate) => candidate.id === id);
    return clause === undefined ? [id] : clause.checks.map((check) => check.id);
  });
}

function buildClause(data: ClauseData, source: Source, path: Path): Clause {
  return {
    id: data.id,
    label: data.label,
    title: data.title,
    statement: { en: data.statement.en.trim(), vi: data.statement.vi.trim() },
    impact: data.impact,
    since: data.since,
    modes: data.modes,
    textHash: data.text_hash ?? '',
    checks: data.checks.map((check, index) =>
      buildCheck(check, data.id, source, [...path, 'checks', index]),
    ),
    at: source.at(path),
    ...optional({ harm: data.harm, until: data.until, notApplicable: data.not_applicable }),
  };
}

function buildCheck(data: CheckData, clause: string, source: Source, path: Path): CheckSpec {
  return {
    id: data.id,
    clause,
    title: data.title,
    kind: data.kind,
    file: data.file ?? '',
    params: data.params ?? {},
    expects: data.expects ?? 0,
    mustObserve: data.must_observe ?? {},
    needs: data.needs ?? [],
    limitMs: (data.limit_seconds ?? defaultLimitSeconds) * 1000,
    at: source.at(path),
    ...optional({ since: data.since, until: data.until, planned: data.planned }),
  };
}

/** Leaves out what is undefined: an absent key and an undefined one are not the same to readers. */
function optional<Shape extends object>(
  shape: Shape,
): { [Key in keyof Shape]?: Exclude<Shape[Key], undefined> } {
  return Object.fromEntries(
    Object.entries(shape).filter(([, value]) => value !== undefined),
  ) as ReturnType<typeof optional<Shape>>;
}
