import { Command } from 'commander';
import { type Context, integer } from './context.ts';

/** `tick` as people type it. */
export function tickLine({ io, end }: Context): Command {
  return new Command('tick')
    .description('one sweep of reaper and promoter, for cron or systemd')
    .option('--target <url>', 'postgres://user@host/database (default: the PG* variables)')
    .option(
      '--limit <n>',
      'rows a call; the sweep goes on until nothing is left',
      integer(1, 100_000),
    )
    .addHelpText('after', examples(io.self))
    .action(async ({ target, limit = 1000 }: { target?: string; limit?: number }) => {
      const { tick } = await import('../tick.ts');
      end(await tick({ limit, ...(target === undefined ? {} : { target }) }, io));
    });
}

function examples(self: string): string {
  return `
Examples:
  PGHOST=/run/postgresql PGDATABASE=app ${self} tick
  ${self} tick --target postgres://sweeper@db.example/app

The role needs workflow_admin and nothing else. Exit code 1: a call was refused, or a job could not be
reaped. docs/operations.md has a cron and a systemd example.
`;
}
