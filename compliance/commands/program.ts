/** The command line as a whole: which commands there are, help, and what a usage error looks like. */
import { Command, CommanderError } from 'commander';
import { exits } from '../verdict/exit.ts';
import { completionLine } from './command_line/completion.ts';
import type { Context } from './command_line/context.ts';
import { doctorLine } from './command_line/doctor.ts';
import { gateLine } from './command_line/gate.ts';
import { judgeLine } from './command_line/judge.ts';
import { checkLine, explainLine, listLine } from './command_line/manifest.ts';
import { proveLine } from './command_line/prove.ts';
import { selftestLine } from './command_line/selftest.ts';
import { tickLine } from './command_line/tick.ts';
import type { Io } from './io.ts';

const lines = [
  gateLine,
  listLine,
  explainLine,
  checkLine,
  judgeLine,
  proveLine,
  selftestLine,
  tickLine,
  doctorLine,
  completionLine,
];

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
  const program = programOf(version, {
    io,
    end: (ended) => {
      code = ended;
    },
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exits.passed : exits.usage;
  }
}

function programOf(version: string, context: Context): Command {
  const { io } = context;
  const program = new Command('dieu45')
    .description('Proves that a PostgreSQL job queue keeps Điều 45, clause by clause.')
    .version(version)
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      getOutHelpWidth: () => io.width,
      getErrHelpWidth: () => io.width,
    })
    .exitOverride()
    .addHelpText('after', examples(io.self));
  for (const line of lines)
    program.addCommand(withNoColor(line(context).copyInheritedSettings(program)));
  return withNoColor(program);
}

/** The option is read before anything is parsed, so it may stand anywhere. */
function withNoColor(command: Command): Command {
  return command.option('--no-color', 'no colours (NO_COLOR does the same)');
}

function examples(self: string): string {
  return `
Examples:
  ${self} gate                 check every clause on a throwaway PostgreSQL 17
  ${self} gate --only s8.3     check one clause
  ${self} list                 the clauses, and what proves each
  ${self} explain s8.3         what a clause says, and how to see its checks alone
  ${self} doctor               what is here, what is missing, what to type
  ${self} help gate            all options of a command

Exit codes: 0 passed · 1 failed · 2 unproven · 3 coverage gap · 64 usage · 65 manifest
69 target unusable · 70 the kit broke · 130 interrupted
`;
}
