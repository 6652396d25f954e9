import { Command, Option } from 'commander';
import type { GateOptions } from '../gate.ts';
import { reporterNames } from '../reporters.ts';
import {
  collect,
  commaList,
  type Context,
  integer,
  langOption,
  manifestOption,
} from './context.ts';

/** What is not given is left to the command. */
type Parsed = Pick<GateOptions, 'profile' | 'lang'> &
  Partial<Omit<GateOptions, 'reporters'>> & { reporter?: string[] };

/** `gate` as people type it. */
export function gateLine({ io, end }: Context): Command {
  return new Command('gate')
    .description('start a server, install sql/, check every clause, exit by verdict')
    .option(
      '--target <server>',
      'embedded, embedded:16, local:/path/to/bin, container:IMAGE or postgres://… (default: embedded)',
    )
    .option(
      '--reuse-roles',
      'for postgres://: go on although roles of the queue have members there already',
    )
    .option('--only <names>', 'only these clauses or checks: s8.3,s7 (repeatable)', commaList)
    .addOption(
      new Option('--profile <name>', 'what is required')
        .choices(['ci', 'release', 'post-migrate'])
        .default('ci'),
    )
    .option('--jobs <n>', 'how many checks run at once (default: one a core)', integer(1, 999))
    .option(
      '--seed <n>',
      'any 32-bit integer; repeats a run (default: random, and printed)',
      integer(-(2 ** 31), 2 ** 32 - 1),
    )
    .option('--reporter <name[:path]>', `${reporterNames.join(', ')}; repeatable`, collect)
    .option('--out <dir>', 'write the evidence bundle there')
    .option(...manifestOption)
    .option('--sql <dir>', 'the folder with install.sql (default: sql/ beside the manifest)')
    .option('--release <x.y>', 'the release under test (default: that of the manifest)')
    .option('--timings', 'show where each second went')
    .option('--quiet', 'only failures and the last line')
    .option('--verbose', 'a line a check, and all that checks tell')
    .addOption(langOption())
    .addHelpText('after', examples(io.self))
    .action(async ({ reporter = [], ...given }: Parsed) => {
      const { gate } = await import('../gate.ts');
      const flags = { timings: false, quiet: false, verbose: false };
      end(await gate({ only: [], ...flags, ...given, reporters: reporter }, io));
    });
}

function examples(self: string): string {
  return `
Examples:
  ${self} gate --target embedded:13
  ${self} gate --only s5.2,s8.3 --seed 7 --verbose
  ${self} gate --reporter cli --reporter junit:junit.xml --out evidence/latest
  ${self} gate --manifest selftest/mine.yaml --sql db/queue

The last line of standard output counts checks: N passed, N failed, N skipped.
`;
}
