/**
 * The forms of a release, built from the one source that `install.sql` lists: the script of the
 * extension, and one plain file for servers where neither psql's \ir nor extension files can be had.
 * Pure.
 */
import type { SqlFile } from './read.ts';

/** Files of the source that a form replaces or leaves out, by their path below `sql/`. */
type Form = {
  header: string;
  footer: string;
  replaced: Readonly<Record<string, readonly string[]>>;
};

const EXTENSION: Form = {
  header: '\\echo Use "create extension dieu45" to load this file. \\quit\n',
  footer: '',
  replaced: {
    // Host tables are members of the extension; see the file for why it refuses others.
    'host/check.sql': ['extension/refuse_host_tables.sql'],
    // An extension script must not insert into a table that is dumped: its user calls fn_job_seed().
    'seed.sql': ['extension/mark_for_dump.sql'],
  },
};

const PLAIN: Form = {
  header:
    '-- Installs the job queue in one file, for migration tools and managed servers: no superuser, no\n' +
    '-- extension files, no psql. The role that runs it needs CREATEROLE (or our roles to be there) and\n' +
    '-- CREATE on the database and on schema public.\n' +
    'begin;\n',
  footer: 'commit;\n',
  replaced: {},
};

export const forms = { extension: EXTENSION, plain: PLAIN } as const;
export type FormName = keyof typeof forms;

/**
 * The text of one form. `files` is what `readInstall` gives; `extra` holds the files that only a form
 * names. Throws when a form names a file that is in neither.
 */
export function buildForm(
  name: FormName,
  files: readonly SqlFile[],
  extra: readonly SqlFile[],
): string {
  const { header, footer, replaced } = forms[name];
  for (const path of Object.keys(replaced)) pick(files, path);
  const parts = files.flatMap((file) => {
    const instead = replaced[below(file.file)];
    return instead === undefined ? [file] : instead.map((path) => pick(extra, path));
  });
  const body = parts.map(({ file, sql }) => `\n-- ${below(file)}\n${sql.trimEnd()}\n`).join('');
  return `${header}-- Built from sql/ by scripts/generate; edit the sources, not this file.\n${body}${footer}`;
}

/** The extra files that the forms name, as paths below `sql/`. */
export function extraFiles(): string[] {
  return Object.values(forms).flatMap(({ replaced }) => Object.values(replaced).flat());
}

function pick(files: readonly SqlFile[], path: string): SqlFile {
  const found = files.find(({ file }) => below(file) === path);
  if (found === undefined) throw new Error(`no file ${path} to build a release from`);
  return found;
}

/** `sql/host/check.sql` → `host/check.sql`. */
function below(file: string): string {
  return file.slice(file.indexOf('/') + 1);
}
