/**
 * The check kind `matrix`: every combination of a table, against what a data file says of it
 * (clauses.md). A file names its shape (`matrix:`) and the clause that its cells speak for; each
 * cell is one assertion, `s6.7: fn_job_succeed on leased_again, with …`.
 */
import pg from 'pg';
import { z } from 'zod';
import { CoverageError } from '../../errors.ts';
import type { Observation, RunCheck } from '../../types.ts';
import { readDataFile } from '../data_file.ts';
import { missingContractObject } from '../missing.ts';
import { flags } from './flags/run.ts';
import { gaps } from './gaps/run.ts';
import { health } from './health/run.ts';
import { leaseCalls } from './lease_calls/run.ts';
import { precedence } from './precedence/run.ts';
import { privileges } from './privileges/run.ts';
import { runs } from './runs/run.ts';
import type { Matrix } from './matrix.ts';

/** Each shape under the word that a file's `matrix:` names it with. */
const shapes = {
  flags,
  gaps,
  health,
  lease_calls: leaseCalls,
  precedence,
  privileges,
  runs,
} as const;

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
    const finding = findingOf(thrown);
    if (finding === undefined) throw thrown;
    yield* told(finding);
    return;
  }
  if (cells === 0) throw new CoverageError(`${task.file}: no cell was tried`);
  yield* told({ is: 'count', name: 'cells', value: cells });
};

/**
 * What the substrate did to the check: a part of the contract that is not there, or a raw error out
 * of a function of the queue, where an answer was due. Anything else is thrown on.
 */
function findingOf(thrown: unknown): Observation | undefined {
  if (!(thrown instanceof pg.DatabaseError)) return undefined;
  const code = thrown.code ?? '';
  const missing = missingContractObject(code, thrown.message);
  const raised = /\b(?:fn_job_|fn_dead_letter_|dot_queue\.)\w+/.exec(thrown.where ?? '')?.[0];
  const name = missing ?? (raised === undefined ? undefined : `${raised} raises no raw error`);
  if (name === undefined) return undefined;
  return { is: 'assertion', name, ok: false, seen: `${thrown.message} (SQLSTATE ${code})` };
}
