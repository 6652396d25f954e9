/**
 * A mutant: one fault of a real queue, as a change of the substrate (selftest/mutants/*.yaml). A file
 * for each, so that a reader can hold it against the fault that it came from.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readDataFile } from '../checks/data_file.ts';
import { KitError } from '../errors.ts';
import type { Where } from '../types.ts';
import { exits } from '../verdict/exit.ts';

const filled = z.string().regex(/\S/, 'the text is empty');

export const changeSchema = z.union([
  z.strictObject({
    function: z
      .string()
      .regex(/^[a-z_]+\.[a-z0-9_]+$/, 'a function as schema.name')
      .describe('A function that is not overloaded.'),
    find: filled.describe('Stands exactly once in its body, or the mutant is stale.'),
    replace: z.string(),
  }),
  z.strictObject({ sql: filled.describe('For all that is no function: a constraint, a grant …') }),
]);

export const mutantSchema = z.strictObject({
  id: z.string().regex(/^[FT]\d{2}[a-z]?$/, 'F for a fault, T for a trap, and its number: F02a'),
  title: filled.describe('What is wrong, in a few words.'),
  harm: filled.describe('What it does to a user, in one sentence.'),
  seen_in: z.array(filled).min(1).describe('Issues of the queues where it was seen.'),
  clause: filled.describe('The clause whose checks must notice.'),
  changes: z.array(changeSchema).min(1).describe('Made in this order.'),
});

export type Change = z.infer<typeof changeSchema>;
export type Mutant = z.infer<typeof mutantSchema> & { at: Where };

/**
 * Every mutant of a folder, by id. Throws KitError 65 with the mistakes of a file, for an id that two
 * files have, and for a folder without a mutant.
 */
export async function loadMutants(folder: string, root: string): Promise<Mutant[]> {
  const names = (await readdir(join(root, folder)).catch(() => [])).filter((name) =>
    name.endsWith('.yaml'),
  );
  if (names.length === 0) throw new KitError(exits.manifest, `${folder} holds no mutant (*.yaml)`);
  const mutants = await Promise.all(
    names.toSorted().map(async (name): Promise<Mutant> => {
      const { data, source } = await readDataFile(mutantSchema, `${folder}/${name}`, root);
      return { ...data, at: source.at([]) };
    }),
  );
  const byId = new Map<string, Mutant>();
  for (const one of mutants) {
    const other = byId.get(one.id);
    if (other !== undefined)
      throw new KitError(
        exits.manifest,
        `${one.at.file}: ${one.id} is the id of ${other.at.file} too`,
      );
    byId.set(one.id, one);
  }
  return mutants.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
