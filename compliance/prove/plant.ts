/** Plants a mutant in a throwaway database. */
import { messageOf } from '../errors.ts';
import type { Sandbox, Session } from '../types.ts';
import type { Change, Mutant } from './mutant.ts';

/** The text to replace is not there, or not once: the substrate has moved on, and the mutant has not. */
export class StaleMutant extends Error {}
/** The server refuses the changed definition: that is no fault that a queue could have. */
export class RefusedMutant extends Error {}

/** Makes the changes in their order; those of one function make one definition. @throws StaleMutant, RefusedMutant */
export async function plantMutant(sandbox: Sandbox, { id, changes }: Mutant): Promise<void> {
  await using session = await sandbox.session(`plant ${id}`);
  const edited = new Map<string, string>();
  const flush = async (): Promise<void> => {
    for (const definition of edited.values()) await take(session, definition);
    edited.clear();
  };
  for (const change of changes) {
    if ('sql' in change) {
      await flush();
      await take(session, change.sql);
    } else {
      const { function: name } = change;
      const definition = edited.get(name) ?? (await definitionOf(session, name));
      edited.set(name, replaced(definition, change));
    }
  }
  await flush();
}

async function take(session: Session, sql: string): Promise<void> {
  try {
    await session.query(sql);
  } catch (error) {
    throw new RefusedMutant(messageOf(error));
  }
}

async function definitionOf(session: Session, name: string): Promise<string> {
  const found = await session.query<{ definition: string }>(
    `select pg_catalog.pg_get_functiondef(p.oid) as definition
       from pg_catalog.pg_proc p
       join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where n.nspname || '.' || p.proname = $1`,
    [name],
  );
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new StaleMutant(`${found.length} functions are named ${name}`);
  return only.definition;
}

function replaced(definition: string, edit: Extract<Change, { find: string }>): string {
  const places = definition.split(edit.find).length - 1;
  if (places !== 1)
    throw new StaleMutant(`${edit.function} holds the text ${places} times: ${edit.find}`);
  return definition.replace(edit.find, () => edit.replace);
}
