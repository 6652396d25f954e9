#!/usr/bin/env node
/** `pgtap-runner`: runs pgTAP files, on a server of its own or on yours. */
import { runPgtapLine } from './commands/command_line/pgtap_runner.ts';
import { runEdge } from './edge.ts';

await runEdge({ name: 'pgtap-runner', run: runPgtapLine });
