/** The seam of this kind: a shape of matrix is a form of file and a way to run it. */
import type { z } from 'zod';
import type { Observation, Run, Sandbox } from '../../types.ts';
import type { DataFile } from '../data_file.ts';

export type Matrix<Schema extends z.ZodType> = {
  schema: Schema;
  run(file: DataFile<z.infer<Schema>>, sandbox: Sandbox, run: Run): AsyncIterable<Observation>;
};
