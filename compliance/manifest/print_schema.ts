/**
 * Prints the JSON Schema of a data file, for `scripts/generate`:
 * `node dist/manifest/print_schema.js manifest`.
 */
import { argv, stdout } from 'node:process';
import { ratifiedSchema } from './ratified.ts';
import { jsonSchemaOf, manifestSchema } from './schema.ts';

const schemas = {
  manifest: { title: 'dieu45: clauses and their checks', schema: manifestSchema },
  ratified: { title: "dieu45: the Council's decisions", schema: ratifiedSchema },
};

const name = argv[2];
if (name !== 'manifest' && name !== 'ratified') throw new Error('print_schema manifest|ratified');
const { title, schema } = schemas[name];
const { $schema, ...rest } = jsonSchemaOf(schema);
stdout.write(`${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`);
