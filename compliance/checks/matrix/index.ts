/**
 * The check kind `matrix`: every combination of a table, against what a data file says of it
 * (clauses.md). A file names its shape (`matrix:`) and the clause that its cells speak for; each
 * cell is one assertion, `s6.7: fn_job_succeed on leased_again, with …`.
 */
import { z } from 'zod';
import { CoverageError, KitError } from '../../errors.ts';
import type { Observation, RunCheck } from '../../types.ts';
import { readDataFile } from '../data_file.ts';
import { missingContractObject } from '../missing.ts';
import { leaseCalls } from './lease_calls/run.ts';
import { precedence } from './precedence/run.ts';
import { privileges } from './privileges/run.ts';
import type { Matrix } from './matrix.ts';

/** Each shape under the word that a file's `matrix:` names it with. */
const shapes = { lease_calls: leaseCalls, precedence, privileges } as const;

const heading = z.looseObject({
  matrix: z.enum(Object.keys(shapes) as [keyof typeof shapes]),
  clause: z.string(),
});

/**
 * @throws KitError 65 for mistakes in the file, CoverageError when no cell was tried or no check of
 * the task belongs to the clause of the file.
 */
export const run: RunCheck = async function* (task, sandbox, how) {
  const { data: head } = await readDataFile(heading, task.file, how.root);
  const specs = task.specs.filter(({ clause }) => clause === head.clause);
  if (specs.length === 0) {
    throw new CoverageError(
      `${task.file} speaks for ${head.clause}, and no such check asked for it`,
    );
  }
  const shape = shapes[head.matrix] as Matrix<z.ZodType>;
  const file = await readDataFile(shape.schema, task.file, how.root);
  let cells = 0;
  const told = (one: Observation): Observation[] => specs.map(({ id }) => ({ ...one, check: id }));
  try {
    for await (const one of shape.run(file, sandbox, how)) {
      if (one.is === 'assertion') cells += 1;
      yield* told(one);
    }
  } catch (thrown) {
    const missing = missingPart(thrown);
    if (missing === undefined) throw thrown;
    yield* told(missing);
    return;
  }
  if (cells === 0) throw new CoverageError(`${task.file}: no cell was tried`);
  yield* told({ is: 'count', name: 'cells', value: cells });
};

/** A part of the contract that is not there is a finding; anything else is thrown on. */
function missingPart(thrown: unknown): Observation | undefined {
  if (thrown instanceof KitError || !(thrown instanceof Error)) return undefined;
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  const name = missingContractObject(code, thrown.message);
  if (name === undefined) return undefined;
  return { is: 'assertion', name, ok: false, seen: `${thrown.message} (SQLSTATE ${code})` };
}
