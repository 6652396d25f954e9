/**
 * Prints the JSON Schema of a data file, for `scripts/generate`:
 * `node dist/manifest/print_schema.js manifest`.
 */
import { argv, stdout } from 'node:process';
import { mutantSchema } from '../prove/mutant.ts';
import { ratifiedSchema } from './ratified.ts';
import { jsonSchemaOf, manifestSchema } from './schema.ts';

const schemas = {
  manifest: { title: 'dieu45: clauses and their checks', schema: manifestSchema },
  ratified: { title: "dieu45: the Council's decisions", schema: ratifiedSchema },
  mutant: { title: 'dieu45: a fault to plant', schema: mutantSchema },
};

const found = Object.entries(schemas).find(([name]) => name === argv[2]);
if (found === undefined) throw new Error(`print_schema ${Object.keys(schemas).join('|')}`);
const { title, schema } = found[1];
const { $schema, ...rest } = jsonSchemaOf(schema);
stdout.write(`${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`);
