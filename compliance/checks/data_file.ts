/** Reads a check's data file: YAML, held against a schema, every mistake at its place. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { KitError, messageOf } from '../errors.ts';
import { refuseProblems } from '../manifest/problem.ts';
import { readSource, type Source } from '../manifest/source.ts';
import { schemaProblems } from '../manifest/zod_problems.ts';

export type DataFile<T> = { data: T; source: Source };

/** @throws KitError 65 when the file cannot be read, or with every mistake in it. */
export async function readDataFile<S extends z.ZodType>(
  schema: S,
  file: string,
  root: string,
): Promise<DataFile<z.infer<S>>> {
  let text: string;
  try {
    text = await readFile(path.resolve(root, file), 'utf8');
  } catch (error) {
    throw new KitError(65, `${file}: cannot be read: ${messageOf(error)}`);
  }
  const source = readSource(text, file);
  refuseProblems(source.problems.length > 0 ? source.problems : schemaProblems(schema, source));
  return { data: schema.parse(source.data), source };
}
