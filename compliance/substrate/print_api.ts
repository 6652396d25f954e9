/** Prints docs/api.md, for `scripts/generate`: `node dist/substrate/print_api.js sql`. */
import { argv, stdout } from 'node:process';
import { buildApi } from './api.ts';
import { readInstall } from './read.ts';

const sqlDir = argv[2];
if (sqlDir === undefined) throw new Error('print_api SQL_FOLDER');
stdout.write(buildApi(await readInstall(sqlDir)));
