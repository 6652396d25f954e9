/** The rules of the house that no linter knows: the layout, and the style of the SQL. */
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const sources = filesBelow('sql', '.sql').filter((file) => !file.startsWith('sql/releases/'));
const typescript = filesBelow('compliance', '.ts');

/** Every `create function` of a file, from its header to the end of its body. */
function functionsOf(file: string): { name: string; text: string }[] {
  return read(file)
    .split(/^(?=\s*create function )/m)
    .filter((part) => /^\s*create function /.test(part))
    .map((part) => ({ name: /create function ([\w.]+)/.exec(part)?.[1] ?? '', text: part }));
}

/** What breaks a rule: an empty list is the only good answer, and the list is the message. */
function breaches(files: string[], rule: (text: string, file: string) => boolean): string[] {
  return files.filter((file) => rule(read(file), file));
}

test('every source of the substrate is named in install.sql, uninstall.sql or a release form', () => {
  const named = ['sql/install.sql', 'sql/uninstall.sql', 'compliance/substrate/release.ts']
    .map(read)
    .join('\n');
  expect(
    sources.filter(
      (file) => !/\/(un)?install\.sql$/.test(file) && !named.includes(file.slice('sql/'.length)),
    ),
  ).toEqual([]);
});

test('a public function stands alone in the file of its name', () => {
  for (const file of filesBelow('sql/functions', '.sql')) {
    expect(functionsOf(file).map(({ name }) => name)).toEqual([`public.${basename(file, '.sql')}`]);
  }
});

test('every function pins its search path, and every public one runs as its owner', () => {
  for (const file of sources) {
    for (const { name, text } of functionsOf(file)) {
      expect(text, name).toMatch(/^\s*set search_path = pg_catalog, pg_temp$/m);
      if (name.startsWith('public.')) expect(text, name).toMatch(/^\s*security definer$/m);
    }
  }
});

test('no function reads the transaction clock, or the role that a definer function always has', () => {
  const bodies = sources.filter((file) => /^sql\/(functions|helpers)\//.test(file));
  const code = (text: string): string => text.replace(/--.*$/gm, '');
  expect(
    breaches(bodies, (text) => /\b(now\(\)|current_user\b|current_timestamp)/.test(code(text))),
  ).toEqual([]);
});

test('every function can be parsed and instrumented: no variable_conflict, no nested declare', () => {
  expect(breaches(sources, (text) => text.includes('#variable_conflict'))).toEqual([]);
  for (const file of sources) {
    for (const { name, text } of functionsOf(file)) {
      expect(text.match(/^\s*declare$/gm)?.length ?? 0, name).toBeLessThanOrEqual(1);
    }
  }
});

test('SQL is within a hundred columns, without tabs and trailing blanks', () => {
  const wide = sources.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => (line.length > 100 ? [`${file}:${index + 1}`] : [])),
  );
  expect(wide).toEqual([]);
  expect(breaches(sources, (text) => /\t|[ ]+$/m.test(text))).toEqual([]);
});

test('every file of the substrate begins by saying what it is', () => {
  expect(breaches(sources, (text) => !text.startsWith('-- '))).toEqual([]);
});

test('no source file is a drawer: none is longer than 400 lines', () => {
  expect(breaches([...sources, ...typescript], (text) => text.split('\n').length > 400)).toEqual(
    [],
  );
});

/** Folder → the folders of compliance/ that it may import from, beside types.ts and errors.ts. */
const pure: Readonly<Record<string, readonly string[]>> = {
  verdict: ['verdict'],
  report: ['report', 'verdict', 'manifest', 'run', 'evidence'],
  history: ['history', 'verdict'],
};

test('judging and reporting are pure: they reach no server, no sandbox, no check', () => {
  const arrows = typescript
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const folder = file.split('/')[1] ?? '';
      const allowed = pure[folder];
      if (allowed === undefined) return [];
      return [...read(file).matchAll(/^(?:import|export) (?!type )[^;]*? from '(\.[^']+)'/gms)]
        .map((match) => relative(root, join(root, file, '..', match[1] ?? '')).split('/'))
        .filter((path) => path.length > 2 && !allowed.includes(path[1] ?? ''))
        .map((path) => `${file} → ${path.join('/')}`);
    });
  expect(arrows).toEqual([]);
});

test('every kind of check exports run from its index', () => {
  const registry = read('compliance/run/registry.ts');
  for (const kind of readdirSync(join(root, 'compliance/checks'), { withFileTypes: true })) {
    if (!kind.isDirectory()) continue;
    const index = read(`compliance/checks/${kind.name}/index.ts`);
    expect(index, kind.name).toMatch(/\brun\b/);
    expect(registry, kind.name).toContain(`checks/${kind.name}/index.ts`);
  }
});

test('the map of ARCHITECTURE.md names every folder that is there', () => {
  const map = read('ARCHITECTURE.md');
  const missing = ['sql', 'compliance', 'selftest'].flatMap((parent) =>
    readdirSync(join(root, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !map.includes(`${entry.name}/`))
      .map((entry) => `${parent}/${entry.name}`),
  );
  expect(missing).toEqual([]);
});

test('nothing speaks of a machine, and nothing is put off', () => {
  // The redactor is tested on invented homes.
  const files = [
    ...sources,
    ...typescript.filter((file) => file !== 'compliance/evidence/redact.test.ts'),
    ...filesBelow('selftest', ''),
    ...filesBelow('scripts', ''),
  ];
  // Written so that the rule does not find itself.
  const put = new RegExp('(//|--) *(TO' + 'DO|FIX' + 'ME)\\b');
  expect(breaches(files, (text) => put.test(text))).toEqual([]);
  expect(breaches(files, (text) => /(^|[\s'"`(])\/(root|work|home)\//m.test(text))).toEqual([]);
});
