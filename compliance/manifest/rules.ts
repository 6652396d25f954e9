/**
 * What no schema can say: ids that must be unique, references that must lead somewhere, files that
 * must exist. The rules read whatever shape the file has and pass over what the schema already
 * refused, so that one run reports everything and nothing twice.
 */
import { extname, isAbsolute, normalize } from 'node:path';
import type { Kind } from '../types.ts';
import type { Files } from './files.ts';
import { paramsOf } from './params.ts';
import type { Problem } from './problem.ts';
import { compareReleases } from './release.ts';
import { clausesOf, textAt, type ClauseEntry, type Entry } from './entries.ts';
import { referenceProblems } from './references.ts';
import { clauseId } from './schema.ts';
import type { Path, Source } from './source.ts';
import { didYouMean } from './suggest.ts';
import { schemaProblems } from './zod_problems.ts';

/** Every breach of the rules across entries. `files` unset: files are not looked for. */
export function ruleProblems(source: Source, files: Files | undefined): Problem[] {
  const clauses = clausesOf(source.data);
  const checks = clauses.flatMap((clause) => clause.checks);
  return [
    ...repeated(source, clauses, 'id', 'clause id'),
    ...repeated(source, clauses, 'label', 'label'),
    ...repeated(source, checks, 'id', 'check id'),
    ...clauses.filter(hasOwnId).flatMap((clause) => prefixProblems(source, clause)),
    ...[...clauses, ...checks].flatMap((entry) => rangeProblems(source, entry)),
    ...checks.flatMap((check) => paramProblems(source, check)),
    ...checks.flatMap((check) => fileProblems(source, check, files)),
    ...clauses.flatMap((clause) => twiceCounted(source, clause)),
    ...referenceProblems(source, clauses),
  ];
}

function repeated(source: Source, entries: readonly Entry[], key: string, what: string): Problem[] {
  const first = new Map<string, Path>();
  return entries.flatMap((entry) => {
    const value = textAt(entry, key);
    const path = [...entry.path, key];
    if (value === undefined) return [];
    const earlier = first.get(value);
    if (earlier === undefined) {
      first.set(value, path);
      return [];
    }
    const { line } = source.at(earlier);
    return [{ ...source.at(path), message: `${what} "${value}" is already used in line ${line}` }];
  });
}

/** An id that is malformed or another clause's is reported already, and says nothing of the checks. */
function hasOwnId(clause: ClauseEntry, index: number, clauses: readonly ClauseEntry[]): boolean {
  const id = textAt(clause, 'id');
  return (
    clauseId.safeParse(id).success &&
    clauses.findIndex((other) => textAt(other, 'id') === id) === index
  );
}

/** A check belongs to the clause that its id begins with. */
function prefixProblems(source: Source, clause: ClauseEntry): Problem[] {
  const id = textAt(clause, 'id');
  if (id === undefined) return [];
  const strangers = clause.checks.filter((check) => {
    const checkId = textAt(check, 'id');
    return checkId !== undefined && !checkId.startsWith(`${id}.`);
  });
  const prefixes = new Set(strangers.map((check) => prefixOf(textAt(check, 'id') ?? '')));
  const [prefix] = prefixes;
  // When all checks agree with each other, it is the clause's own id that was mistyped.
  if (strangers.length > 1 && strangers.length === clause.checks.length && prefixes.size === 1) {
    const message = `clause id "${id}" does not begin its checks' ids; did you mean ${prefix ?? ''}?`;
    return [{ ...source.at([...clause.path, 'id']), message }];
  }
  return strangers.map((check) => ({
    ...source.at([...check.path, 'id']),
    message: `check id "${textAt(check, 'id') ?? ''}" stands in clause ${id}, so it must begin with "${id}."`,
  }));
}

/** The clause part of a check id. */
function prefixOf(checkId: string): string {
  return checkId.split('.').slice(0, -1).join('.');
}

function rangeProblems(source: Source, entry: Entry): Problem[] {
  const since = textAt(entry, 'since') ?? (entry.parent && textAt(entry.parent, 'since'));
  const until = textAt(entry, 'until');
  if (since === undefined || until === undefined || compareReleases(until, since) > 0) return [];
  const message = `until "${until}" does not come after since "${since}", so it never applies`;
  return [{ ...source.at([...entry.path, 'until']), message }];
}

function paramProblems(source: Source, check: Entry): Problem[] {
  const kind = textAt(check, 'kind');
  const params = check.value.params;
  if (kind === undefined || !Object.hasOwn(paramsOf, kind)) return [];
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return [];
  const path = [...check.path, 'params'];
  const inside: Source = {
    ...source,
    data: params,
    at: (rest) => source.at([...path, ...rest]),
    atKey: (rest) => source.atKey([...path, ...rest]),
    typed: (rest) => source.typed([...path, ...rest]),
  };
  return schemaProblems(paramsOf[kind as Kind], inside).map((problem) => ({
    ...problem,
    message: `${problem.message} (params of kind ${kind})`,
  }));
}

/** What a kind reads; kinds that are not listed read anything. */
const endings: Partial<Record<string, string>> = {
  catalog: '.sql',
  pgtap: '.sql',
  race: '.yaml',
  claimers: '.yaml',
  timed: '.yaml',
  matrix: '.yaml',
};

function fileProblems(source: Source, check: Entry, files: Files | undefined): Problem[] {
  const file = textAt(check, 'file');
  if (file === undefined || file.trim() === '') return [];
  const problem = (message: string): Problem[] => [
    { ...source.at([...check.path, 'file']), message },
  ];
  if (isAbsolute(file) || normalize(file).startsWith('..')) {
    return problem(`"${file}" must be a path inside the project, relative to its root`);
  }
  if (files !== undefined && !files.isFile(file)) {
    return problem(`no file "${file}"${didYouMean(file, files.beside(file))}`);
  }
  const kind = textAt(check, 'kind') ?? '';
  const ending = endings[kind];
  if (ending !== undefined && extname(file) !== ending) {
    return problem(`kind ${kind} reads ${ending} files, not "${file}"`);
  }
  return [];
}

/** A pgTAP suite gives a clause all assertions that name it; a second check would count them again. */
function twiceCounted(source: Source, clause: ClauseEntry): Problem[] {
  const first = new Map<string, string>();
  return clause.checks.flatMap((check) => {
    const file = textAt(check, 'file');
    if (textAt(check, 'kind') !== 'pgtap' || file === undefined) return [];
    const earlier = first.get(file);
    if (earlier === undefined) {
      first.set(file, textAt(check, 'id') ?? 'another check');
      return [];
    }
    const message = `${earlier} already counts what "${file}" asserts for this clause`;
    return [{ ...source.at([...check.path, 'file']), message }];
  });
}
