import { Command } from 'commander';
import type { SelfTestOptions } from '../selftest.ts';
import { type Context, manifestOption } from './context.ts';

/** `selftest` as people type it. */
export function selftestLine({ io, end }: Context): Command {
  return new Command('selftest')
    .description("answer a design document's self_test block, key by key")
    .argument('<document>', 'the text that holds the self_test: block')
    .option('--target <server>', 'as for gate (default: embedded)')
    .option(...manifestOption)
    .addHelpText('after', `\nExample:\n  ${io.self} selftest docs/dp3.txt\n`)
    .action(async (document: string, options: SelfTestOptions) => {
      const { selftest } = await import('../selftest.ts');
      end(await selftest(document, options, io));
    });
}
