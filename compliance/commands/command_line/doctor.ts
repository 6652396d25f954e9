import { Command } from 'commander';
import type { Context } from './context.ts';

/** `doctor` as people type it. */
export function doctorLine({ io, end }: Context): Command {
  return new Command('doctor')
    .description('what is here, what is missing, and what to type')
    .action(async () => {
      const { doctor } = await import('../doctor.ts');
      end(await doctor(io));
    });
}
