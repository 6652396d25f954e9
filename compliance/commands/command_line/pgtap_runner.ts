/** `pgtap-runner` as people type it: a command of its own, beside `dieu45`. */
import { availableParallelism } from 'node:os';
import { Command, CommanderError } from 'commander';
import { exits } from '../../verdict/exit.ts';
import type { Io } from '../io.ts';
import { collect, integer } from './context.ts';

type Parsed = {
  target: string;
  setup?: string[];
  inPlace?: boolean;
  jobs?: number;
  timeout: number;
  reporter?: string[];
  verbose?: boolean;
  quiet?: boolean;
  watch?: boolean;
};

/**
 * Runs one command line and returns its exit code; usage errors are written with a suggestion and
 * return 64. Errors of the command itself are thrown.
 */
export async function runPgtapLine(
  argv: readonly string[],
  io: Io,
  version: string,
): Promise<number> {
  let code: number = exits.passed;
  const program = lineOf(io, version, (ended) => (code = ended));
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exits.passed : exits.usage;
  }
}

function lineOf(io: Io, version: string, end: (code: number) => void): Command {
  return new Command('pgtap-runner')
    .description(
      'Runs pgTAP test files, each in a database of its own, on a PostgreSQL that it brings along.',
    )
    .version(version)
    .argument('[files...]', 'test files, or folders of them')
    .option(
      '--target <server>',
      'embedded, embedded:16, local:/path/to/bin or postgres://…',
      'embedded',
    )
    .option('--setup <file>', 'a script that makes what is tested, run once (repeatable)', collect)
    .option('--in-place', 'all files in one database, each in a transaction that is rolled back')
    .option(
      '-j, --jobs <n>',
      'how many files run at once (default: one a core; in place: 1)',
      integer(1, 999),
    )
    .option('--timeout <seconds>', 'limit for each file', integer(1, 86_400), 300)
    .option('--reporter <name[:path]>', 'text, tap or junit; repeatable', collect)
    .option('--watch', 'run again what a change touches, until Ctrl-C')
    .option('--quiet', 'only failures and the last line')
    .option('--verbose', 'a line a test')
    .option('--no-color', 'no colours (NO_COLOR does the same)')
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      getOutHelpWidth: () => io.width,
      getErrHelpWidth: () => io.width,
    })
    .exitOverride()
    .addHelpText('after', examples(io.self))
    .action(async (files: string[], given: Parsed) => {
      const { runPgtap } = await import('../pgtap_runner.ts');
      const inPlace = given.inPlace ?? false;
      end(
        await runPgtap(
          {
            files,
            target: given.target,
            setup: given.setup ?? [],
            inPlace,
            jobs: given.jobs ?? (inPlace ? 1 : availableParallelism()),
            limitSeconds: given.timeout,
            reporters: given.reporter ?? [],
            verbose: given.verbose ?? false,
            quiet: given.quiet ?? false,
            watch: given.watch ?? false,
          },
          io,
        ),
      );
    });
}

function examples(self: string): string {
  return `
Examples:
  ${self} test/*.sql --setup schema.sql            each file in a fresh database with your schema
  ${self} test/ --target embedded:13               on another PostgreSQL
  ${self} test/ --target postgres://me@db/app --in-place
                                                   in a database that is there, and stays as it is
  ${self} test/ --reporter tap                     TAP, for whoever reads it
  ${self} test/ --reporter text --reporter junit:junit.xml
  ${self} test/ --setup schema.sql --watch         again at each change

A file may use \\set \\unset \\pset \\i \\ir \\echo and :variables. It needs a plan: none, a short one and
one that is exceeded are failures, and so is a run in which no test ran.

Exit codes: 0 green · 1 a test failed, a file broke, or nothing ran · 64 usage · 69 target · 130 interrupted
`;
}
