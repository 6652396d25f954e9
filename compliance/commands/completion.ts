/** Shell completion: scripts made from the commands and options that there are. Pure. */

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** What can be typed after a command's name. */
export type Completable = {
  name: string;
  description: string;
  options: readonly { flag: string; description: string; choices: readonly string[] }[];
  /** Its argument is a clause or a check. */
  takesIds: boolean;
};

/** Options whose value is a clause or a check. */
const ID_OPTIONS = ['--only'];
/** Lists ids, one a line, by the command itself: they are those of the manifest that is there. */
const IDS = `dieu45 list --json 2>/dev/null | sed -n 's/^ *"id": "\\([^"]*\\)".*/\\1/p'`;

/** A script to be read by the shell: `source <(dieu45 completion bash)`. */
export function completionScript(shell: Shell, commands: readonly Completable[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
    case 'fish':
      return fish(commands);
  }
}

function bash(commands: readonly Completable[]): string {
  const names = commands.map(({ name }) => name);
  const choices = new Map(
    commands.flatMap(({ options }) =>
      options.flatMap(({ flag, choices: some }) =>
        some.length > 0 ? [[flag, some] as const] : [],
      ),
    ),
  );
  const reply = (words: string): string => `COMPREPLY=($(compgen -W "${words}" -- "$cur"))`;
  return `_dieu45() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in ${names.join('|')}) command=$word; break ;; esac
  done
  case $prev in
    ${ID_OPTIONS.join('|')}) ${reply(`$(${IDS})`)}; return ;;
${[...choices].map(([flag, some]) => `    ${flag}) ${reply(some.join(' '))}; return ;;`).join('\n')}
  esac
  case $command in
    '') ${reply([...names, '--help', '--version'].join(' '))} ;;
${commands
  .map(({ name, options, takesIds }) => {
    const words = options.map(({ flag }) => flag).join(' ');
    return `    ${name}) ${reply(takesIds ? `${words} $(${IDS})` : words)} ;;`;
  })
  .join('\n')}
  esac
}
complete -o default -F _dieu45 dieu45
`;
}

function fish(commands: readonly Completable[]): string {
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const lines = commands.flatMap(({ name, description, options, takesIds }) => {
    const when = `-n ${quoted(`__fish_seen_subcommand_from ${name}`)}`;
    return [
      `complete -c dieu45 -f -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
      ...(takesIds ? [`complete -c dieu45 ${when} -f -a ${quoted(`(${IDS})`)}`] : []),
      ...options.map(({ flag, description: about, choices }) => {
        const values = ID_OPTIONS.includes(flag) ? `(${IDS})` : choices.join(' ');
        const value = values === '' ? '' : ` -x -a ${quoted(values)}`;
        return `complete -c dieu45 ${when} -l ${flag.slice(2)} -d ${quoted(about)}${value}`;
      }),
    ];
  });
  return `${lines.join('\n')}\n`;
}
