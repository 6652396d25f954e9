#!/usr/bin/env node
/** `dieu45`: proves that a job queue keeps Điều 45. */
import { runCommandLine } from './commands/program.ts';
import { runEdge } from './edge.ts';

await runEdge({ name: 'dieu45', run: runCommandLine });
