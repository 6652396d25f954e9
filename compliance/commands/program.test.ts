import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Io } from './io.ts';
import { runCommandLine } from './program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function type(...argv: string[]) {
  const printed = { out: '', err: '' };
  const io: Io = {
    out: { write: (text) => (printed.out += text) },
    err: { write: (text) => (printed.err += text) },
    color: false,
    width: 80,
    root,
    cwd: root,
    env: {},
    signal: new AbortController().signal,
    self: './scripts/dieu45',
  };
  return { code: await runCommandLine(argv, io, '2.0.0'), ...printed };
}

test.each([
  [['gaet'], /unknown command 'gaet'\n\(Did you mean gate\?\)/],
  [['gate', '--olny', 's1'], /unknown option '--olny'\n\(Did you mean --only\?\)/],
  [['gate', '--jobs', '0'], /whole number from 1 to 999/],
  [['gate', '--seed', '4294967296'], /whole number from -2147483648 to 4294967295/],
  [['gate', '--seed', '1.5'], /whole number/],
  [['gate', '--only', 's1,,s2'], /A name is empty/],
  [['gate', '--lang', 'fr'], /Allowed choices are en, vi/],
  [['gate', 's8.3'], /too many arguments/],
  [['explain'], /missing required argument 'clause'/],
])('%j is a usage error that says what is wrong', async (argv, message) => {
  const { code, err, out } = await type(...argv);
  expect(code).toBe(64);
  expect(err).toMatch(message);
  expect(out).toBe('');
});

test('without a command, the help is shown and it is a usage error', async () => {
  const { code, err } = await type();
  expect(code).toBe(64);
  expect(err).toContain('./scripts/dieu45 explain s8.3');
});

test.each([['--help'], ['help'], ['gate', '--help'], ['help', 'gate'], ['--version']])(
  '%s goes to standard output and succeeds',
  async (...argv) => {
    const { code, out, err } = await type(...argv);
    expect(code).toBe(0);
    expect(err).toBe('');
    expect(out).toMatch(argv.includes('--version') ? /^2\.0\.0\n$/ : /Examples:\n/);
  },
);

test('help fits the terminal', async () => {
  const { out } = await type('gate', '--help');
  const options = out.slice(0, out.indexOf('Examples:'));
  for (const line of options.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('an unknown clause is thrown as a usage error with the nearest one', async () => {
  await expect(type('gate', '--only', 's8.33')).rejects.toMatchObject({
    exitCode: 64,
    message: expect.stringContaining('did you mean s8.3?') as string,
  });
});
