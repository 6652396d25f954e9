/** Ways to break the queue on purpose. Tests only. */
import type { Sandbox } from '../../types.ts';

export type Red = {
  fault: string;
  file: string;
  clause: string;
  plant(sandbox: Sandbox): Promise<void>;
  /** A cell that must break → what must be seen of it. */
  names: Readonly<Record<string, RegExp>>;
  /** What every broken cell has in its name: the fault breaks nothing else. */
  only: RegExp;
};

type Edit = readonly [find: RegExp, put: string];

/** Rewrites a function of the queue; each edit must find its text. */
export async function breakFunction(
  sandbox: Sandbox,
  name: string,
  ...edits: readonly Edit[]
): Promise<void> {
  const text = await definitionOf(
    sandbox,
    'select pg_catalog.pg_get_functiondef($1::regproc) as text',
    name,
  );
  await sandbox.plant(edited(text, name, edits));
}

/** The same for a view, whose text is what the server makes of it. */
export async function breakView(
  sandbox: Sandbox,
  name: string,
  ...edits: readonly Edit[]
): Promise<void> {
  const text = await definitionOf(
    sandbox,
    'select pg_catalog.pg_get_viewdef($1::regclass, true) as text',
    name,
  );
  await sandbox.plant(`create or replace view ${name} as ${edited(text, name, edits)}`);
}

async function definitionOf(sandbox: Sandbox, query: string, name: string): Promise<string> {
  await using session = await sandbox.session('reads a definition');
  const [row] = await session.query<{ text: string }>(query, [name]);
  if (row === undefined) throw new Error(`there is no ${name}`);
  return row.text;
}

function edited(text: string, name: string, edits: readonly Edit[]): string {
  return edits.reduce((before, [find, put]) => {
    const after = before.replace(find, put);
    if (after === before) throw new Error(`${name} has no ${String(find)}`);
    return after;
  }, text);
}
