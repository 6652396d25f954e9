import { Command } from 'commander';
import type { ExplainOptions } from '../explain.ts';
import type { ListOptions } from '../list.ts';
import { type Context, langOption, manifestOption } from './context.ts';

/** `check` as people type it. */
export function checkLine({ io, end }: Context): Command {
  return new Command('check')
    .description('say every mistake of the manifest, as file:line:col')
    .option(...manifestOption)
    .action(async (options: { manifest?: string }) => {
      const { check } = await import('../check.ts');
      end(await check(options, io));
    });
}

/** `list` as people type it. */
export function listLine({ io, end }: Context): Command {
  return new Command('list')
    .description('the clauses, and by what kinds of check each is proven')
    .option('--json', 'everything, for scripts')
    .option(...manifestOption)
    .addOption(langOption())
    .action(async (options: Omit<ListOptions, 'json'> & { json?: boolean }) => {
      const { list } = await import('../list.ts');
      end(await list({ json: false, ...options }, io));
    });
}

/** `explain` as people type it. */
export function explainLine({ io, end }: Context): Command {
  return new Command('explain')
    .description('what a clause says, what proves it, and how to see it alone')
    .argument('<clause>', 'a clause or a check: s8.3, §8.3, s8.3.killed-worker-is-reaped')
    .option(...manifestOption)
    .addOption(langOption())
    .action(async (name: string, options: Omit<ExplainOptions, 'name'>) => {
      const { explain } = await import('../explain.ts');
      end(await explain({ ...options, name }, io));
    });
}
