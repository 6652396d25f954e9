import { Command } from 'commander';
import { commaList, type Context } from './context.ts';

/** `judge` as people type it. */
export function judgeLine({ io, end }: Context): Command {
  return new Command('judge')
    .description('judge one recorded history alone, as the gate would')
    .argument('<history>', 'a history of JSON lines from the evidence of a run')
    .option('--only <judges>', 'only these judges: double_hold,lost (repeatable)', commaList)
    .addHelpText(
      'after',
      `\nExample:\n  ${io.self} judge evidence/latest/evidence/…/history.jsonl\n`,
    )
    .action(async (history: string, { only = [] }: { only?: string[] }) => {
      const { judge } = await import('../judge.ts');
      end(await judge({ history, only }, io));
    });
}
