/**
 * `:name` in the SQL of a scenario stands for a value that an earlier step or the set-up captured.
 * Values travel as parameters, never as text, so a value can hold anything.
 */

/** What a variable may hold: whatever JSON can. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Variables = Readonly<Record<string, Json>>;

/** SQL with `$1 …` in place of `:name`, and the values in that order. */
export type Bound = { text: string; values: (string | number | boolean | null | unknown[])[] };

// What may hide a colon that is no variable: strings, names, dollar quotes, comments, casts.
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|::|:=|:([a-z_][a-z0-9_]*)/g;

/** Names of the variables that the SQL reads, each once. */
export function variablesIn(sql: string): string[] {
  const names = [...sql.matchAll(TOKEN)].flatMap(([, , name]) =>
    name === undefined ? [] : [name],
  );
  return [...new Set(names)];
}

/**
 * Puts parameters in place of variables. Every use gets a parameter of its own, since the server
 * would otherwise want one type for all uses.
 * @throws Error when a variable has no value yet.
 */
export function bind(sql: string, variables: Variables): Bound {
  const values: Bound['values'] = [];
  const text = sql.replaceAll(TOKEN, (whole: string, _tag: unknown, name: string | undefined) => {
    if (name === undefined) return whole;
    if (!Object.hasOwn(variables, name)) throw new Error(`:${name} has no value yet`);
    values.push(parameter(variables[name] ?? null));
    return `$${values.length}`;
  });
  return { text, values };
}

/** The SQL with parameters in place of variables, for whoever wants to parse it. */
export function parametrised(sql: string): string {
  return bind(sql, Object.fromEntries(variablesIn(sql).map((name) => [name, null]))).text;
}

function parameter(value: Json): Bound['values'][number] {
  if (value === null || typeof value !== 'object') return value;
  return Array.isArray(value) ? [...(value as readonly Json[])] : JSON.stringify(value);
}

/** Puts the texts of one case in place of `{{name}}`. Names that the case lacks stay as they are. */
export function fillIn(sql: string, texts: Readonly<Record<string, string>>): string {
  return sql.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => texts[name] ?? whole);
}

/** Names inside `{{…}}`. */
export function blanksIn(sql: string): string[] {
  return [...sql.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
}
