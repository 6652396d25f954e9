/**
 * `docs/api.md`, built from the sources of the public functions: the signature that stands in the file, the
 * header above it, the refusals that the header lists, and who may call it by grants.sql. Pure; a test
 * holds the signatures equal to the catalog's.
 */
import type { SqlFile } from './read.ts';

export type ApiFunction = {
  name: string;
  /** One a line, as written: `p_limit integer default 1000`. */
  args: string[];
  returns: string;
  volatility: string;
  /** The header without its refusals, as one paragraph. */
  header: string;
  refusals: string[];
  /** Roles that may execute it. */
  roles: string[];
};

/** Reads one public function. Throws when the file does not hold what the house rules say it does. */
export function readFunction({ file, sql }: SqlFile, grants: string): ApiFunction {
  const found =
    /^((?:--[^\n]*\n)+)create function public\.(\w+)\(([\s\S]*?)\)\nreturns ([\s\S]*?)\nlanguage \w+\n(volatile|stable|immutable)\n/m.exec(
      sql,
    );
  if (found === null) throw new Error(`${file}: no public function with a header`);
  const [, comment = '', name = '', args = '', returns = '', volatility = ''] = found;
  const words = comment
    .split('\n')
    .map((line) => line.replace(/^-- ?/, ''))
    .join(' ')
    .trim();
  const [before = '', after = ''] = words.split(/Refusals(?:, raised as D4500)?: /);
  return {
    name,
    args: args
      .split(/,\s*(?![^()]*\))/)
      .map((arg) => arg.trim())
      .filter((arg) => arg !== ''),
    returns: returns.replace(/\s+/g, ' ').trim(),
    volatility,
    header: before.trim(),
    refusals: after
      .replace(/\.$/, '')
      .split(/, /)
      .map((code) => code.trim())
      .filter((code) => code !== ''),
    roles: rolesOf(name, grants),
  };
}

/** The roles that grants.sql lets execute a function. */
function rolesOf(name: string, grants: string): string[] {
  return [...grants.matchAll(/^grant execute on function\n([\s\S]*?)\nto (\w+);$/gm)]
    .filter(([, functions = '']) => functions.includes(`public.${name}(`))
    .map(([, , role = '']) => role);
}

/** The page. Functions in load order; what is not granted to anybody says so. */
export function buildApi(files: readonly SqlFile[]): string {
  const grants = files.find(({ file }) => file.endsWith('/grants.sql'))?.sql ?? '';
  const functions = files
    .filter(({ file }) => file.includes('/functions/'))
    .map((file) => readFunction(file, grants));
  return [
    '# Functions of the queue',
    '',
    'Built by `scripts/generate` from the sources in `sql/functions/`. A refusal is a value,',
    '`{"refused": true, "reason": "<code>", …}`, and changes nothing but its own audit row; a function that returns rows raises it',
    'as SQLSTATE `D4500` with the same object as JSON in `DETAIL`. NULL stands for the default wherever there is one.',
    '',
    '| Function | Who may call it |',
    '|---|---|',
    ...functions.map(
      ({ name, roles }) =>
        `| [\`${name}\`](#${name}) | ${roles.join(', ') || 'nobody (internal)'} |`,
    ),
    ...functions.flatMap((fn) => ['', ...section(fn)]),
    '',
  ].join('\n');
}

function section({
  name,
  args,
  returns,
  volatility,
  header,
  refusals,
  roles,
}: ApiFunction): string[] {
  const signature =
    args.length === 0 ? `${name}()` : `${name}(\n${args.map((arg) => `  ${arg}`).join(',\n')}\n)`;
  return [
    `## ${name}`,
    '',
    '```sql',
    `${signature} returns ${returns}`,
    '```',
    '',
    header,
    '',
    `${volatility.toUpperCase()}. Granted to ${roles.join(', ') || 'nobody'}. ` +
      (refusals.length === 0
        ? 'Never refuses.'
        : `Refusals: ${refusals.map((code) => `\`${code}\``).join(', ')}.`),
  ];
}
