/** The command line as people type it: names, options, help. What the commands do is elsewhere. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { exits } from '../verdict/exit.ts';
import type { GateOptions } from './gate.ts';
import type { Io } from './io.ts';
import { reporterNames } from './reporters.ts';

/**
 * Runs one command line (without node and script) and returns its exit code; usage errors are
 * written with a suggestion and return 64. Errors of the command itself are thrown.
 */
export async function runCommandLine(
  argv: readonly string[],
  io: Io,
  version: string,
): Promise<number> {
  let code: number = exits.passed;
  const program = programOf(io, version, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exits.passed : exits.usage;
  }
}

function programOf(io: Io, version: string, end: (code: number) => void): Command {
  const program = new Command('dieu45');
  program
    .description('Proves that a PostgreSQL job queue keeps Điều 45, clause by clause.')
    .version(version)
    .option('--no-color', 'no colours (NO_COLOR does the same)')
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      getOutHelpWidth: () => io.width,
      getErrHelpWidth: () => io.width,
    })
    .exitOverride()
    .showHelpAfterError('(--help shows what there is)')
    .addHelpText('after', examples(io.self));
  program.addCommand(gateCommand(io, end).copyInheritedSettings(program));
  return program;
}

function gateCommand(io: Io, end: (code: number) => void): Command {
  return new Command('gate')
    .description('start a server, install sql/, check every clause, exit by verdict')
    .option(
      '--target <server>',
      'embedded, embedded:16, local:/path/to/bin or postgres://… (default: embedded)',
    )
    .option('--only <ids>', 'only these clauses or checks: s8.3,s7 (repeatable)', commaList, [])
    .option('--profile <name>', 'ci, release or post-migrate', 'ci')
    .option('--jobs <n>', 'how many checks run at once (default: one a core)', positive)
    .option('--seed <n>', 'repeat a run with its seed (default: random, and printed)', int32)
    .option('--reporter <name[:path]>', `${reporterNames.join(', ')}; repeatable`, collect, [])
    .option('--out <dir>', 'write the evidence bundle there')
    .option('--manifest <file>', 'what to prove (default: selftest/dieu45.yaml of this package)')
    .option('--sql <dir>', 'the folder with install.sql (default: sql/ beside the manifest)')
    .option('--release <x.y>', 'the release under test (default: the one of this package)')
    .option('--timings', 'show where each second went', false)
    .option('--quiet', 'only failures and the last line', false)
    .option('--verbose', 'a line a check, and all that checks tell', false)
    .option('--no-color', 'no colours')
    .addOption(
      new Option('--lang <lang>', 'language of the report').choices(['en', 'vi']).default('en'),
    )
    .addHelpText('after', gateExamples(io.self))
    .action(
      async ({ reporter, ...options }: Omit<GateOptions, 'reporters'> & { reporter: string[] }) => {
        const { gate } = await import('./gate.ts');
        end(await gate({ ...options, reporters: reporter }, io));
      },
    );
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

function commaList(value: string, before: readonly string[]): string[] {
  const ids = value.split(',').map((id) => id.trim());
  if (ids.includes('')) throw new InvalidArgumentError('An id is empty.');
  return [...before, ...ids];
}

function positive(value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value))
    throw new InvalidArgumentError('Give a number from 1 to 9999.');
  return Number(value);
}

/** Any 32-bit integer, signed or not. */
function int32(value: string): number {
  const number = Number(value);
  if (!/^-?\d+$/.test(value) || number < -(2 ** 31) || number >= 2 ** 32)
    throw new InvalidArgumentError('Give a 32-bit integer.');
  return number;
}

function examples(self: string): string {
  return `
Examples:
  ${self} gate                      check every clause on a throwaway PostgreSQL 17
  ${self} gate --only s8.3          check one clause
  ${self} list                      what there is to check
  ${self} explain s8.3              what a clause says, and what proves it
  ${self} doctor                    what is here, what is missing, what to type

Exit codes: 0 passed, 1 failed, 2 unproven, 3 coverage gap, 64 usage, 65 manifest,
69 target, 70 the kit broke, 130 interrupted.
`;
}

function gateExamples(self: string): string {
  return `
Examples:
  ${self} gate --target embedded:13
  ${self} gate --only s5.2,s8.3 --seed 7 --verbose
  ${self} gate --reporter cli --reporter junit:junit.xml --out evidence/latest
  ${self} gate --manifest selftest/mine.yaml --sql db/queue
`;
}
