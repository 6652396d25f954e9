/** The scripts are read by real shells, where they are there. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { completionScript, type Completable } from './completion.ts';

const commands: Completable[] = [
  {
    name: 'gate',
    description: "checks what's there",
    options: [
      { flag: '--target', description: 'where', choices: [] },
      { flag: '--lang', description: 'language', choices: ['en', 'vi'] },
      { flag: '--only', description: 'which', choices: [] },
    ],
    takesIds: false,
  },
  { name: 'explain', description: 'explains', options: [], takesIds: true },
];

/** Stands in for the command itself, which the script asks for ids. */
const LIST = `dieu45() { printf '{\\n  "id": "s8.3",\\n    "id": "s8.3.reaper",\\n}\\n'; }`;

function completed(...words: string[]): string[] {
  const script = `${LIST}
${completionScript('bash', commands)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_dieu45
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

test.each([
  [['dieu45', 'ga'], ['gate']],
  [
    ['dieu45', ''],
    ['gate', 'explain', '--help', '--version'],
  ],
  [
    ['dieu45', 'gate', '--'],
    ['--target', '--lang', '--only'],
  ],
  [
    ['dieu45', 'gate', '--lang', ''],
    ['en', 'vi'],
  ],
  [['dieu45', 'gate', '--only', 's8.3.'], ['s8.3.reaper']],
  [
    ['dieu45', 'explain', 's'],
    ['s8.3', 's8.3.reaper'],
  ],
])('%j is completed by %j', (words, expected) => {
  expect(completed(...words)).toEqual(expected);
});

test('zsh reads the same script by its own means, fish has lines of its own', () => {
  expect(completionScript('zsh', commands)).toMatch(/^autoload .*bashcompinit\n_dieu45\(\)/);
  const lines = completionScript('fish', commands).trim().split('\n');
  expect(lines).toContain(
    "complete -c dieu45 -f -n __fish_use_subcommand -a gate -d 'checks what\\'s there'",
  );
  expect(lines).toContain(
    "complete -c dieu45 -n '__fish_seen_subcommand_from gate' -l lang -d 'language' -x -a 'en vi'",
  );
  expect(lines).toHaveLength(6);
});
