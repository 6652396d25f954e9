import { Command } from 'commander';
import type { ProveOptions } from '../prove.ts';
import { commaList, type Context, integer, manifestOption } from './context.ts';

/** `prove` as people type it. */
export function proveLine({ io, end }: Context): Command {
  return new Command('prove')
    .description('break the queue on purpose, and show which check catches each fault')
    .option('--only <names>', 'only these mutants or clauses, in full: F36,s8.3', commaList)
    .option('--sample <n>', 'so many mutants, drawn by the seed', integer(1, 100_000))
    .option('--seed <n>', 'repeats a run (default: random)', integer(-(2 ** 31), 2 ** 32 - 1))
    .option('--jobs <n>', 'how many mutants at once (default: one a core)', integer(1, 999))
    .option('--floor <percent>', 'fewer kills than this fail', integer(0, 100), 100)
    .option('--target <server>', 'as for gate (default: embedded)')
    .option('--sql <dir>', 'the folder with install.sql (default: sql/ beside the manifest)')
    .option(...manifestOption)
    .addHelpText(
      'after',
      `
Examples:
  ${io.self} prove --only F36           one fault: its diff, the check that caught it, the trace
  ${io.self} prove --only s8.3          every fault that the clause must notice
  ${io.self} prove --sample 20 --seed 1 a few, repeatably

The faults are files: selftest/mutants/*.yaml.
`,
    )
    .action(async (given: Omit<ProveOptions, 'only'> & { only?: string[] }) => {
      const { prove } = await import('../prove.ts');
      end(await prove({ ...given, only: given.only ?? [] }, io));
    });
}
