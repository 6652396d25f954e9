/** Names of jobs in the SQL and the expectations of a file: `:held` is an id, `:held_token` a token. */
import type { Job } from './job.ts';
import { isObject, type Json } from './json.ts';

export type Names = ReadonlyMap<string, string>;

/** The id of each job, and the token of its latest lease. */
export function namesOf(jobs: readonly Job[]): Names {
  return new Map(
    jobs.flatMap((job): [string, string][] => [
      [job.name, job.id],
      [`${job.name}_token`, job.tokens.at(-1) ?? ''],
    ]),
  );
}

/** The SQL with each name as a uuid literal; what is no name, a cast for instance, stays. */
export function sqlWith(names: Names, sql: string): string {
  return sql.replaceAll(/(?<!:):([a-z][a-z0-9_]*)\b/g, (whole, name: string) => {
    const value = names.get(name);
    return value === undefined ? whole : value === '' ? 'null::uuid' : `'${value}'::uuid`;
  });
}

/** The expectation with each text that is a name replaced by what it stands for. */
export function jsonWith(names: Names, value: Json): Json {
  if (typeof value === 'string')
    return value.startsWith(':') ? (names.get(value.slice(1)) ?? value) : value;
  if (Array.isArray(value)) return value.map((item: Json) => jsonWith(names, item));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, its]) => [key, jsonWith(names, its)]));
}
