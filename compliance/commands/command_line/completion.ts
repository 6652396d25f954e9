import { Argument, Command } from 'commander';
import { completionScript, shells, type Completable, type Shell } from '../completion.ts';
import type { Context } from './context.ts';

/** `completion` as people type it. */
export function completionLine({ io }: Context): Command {
  return new Command('completion')
    .description('a script that completes commands, options and ids in your shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .addHelpText(
      'after',
      `
Examples:
  source <(dieu45 completion bash)                               in ~/.bashrc
  source <(dieu45 completion zsh)                                in ~/.zshrc
  dieu45 completion fish > ~/.config/fish/completions/dieu45.fish
`,
    )
    .action((shell: Shell, _options: object, line: Command) => {
      io.out.write(completionScript(shell, completable(line.parent ?? line)));
    });
}

/** The commands of a program, with all that is typed after them. */
function completable({ commands }: Command): Completable[] {
  return commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: command.options.map(({ long, description, argChoices }) => ({
      flag: long ?? '',
      description,
      choices: argChoices ?? [],
    })),
    takesIds: command.registeredArguments.some((argument) => argument.name() === 'clause'),
  }));
}
