/**
 * The edge of a command: argv in, exit code out. Beside the entry files of worker processes, the only
 * file that touches process and its streams.
 */
import { fileURLToPath } from 'node:url';
import type { Io } from './commands/io.ts';
import { packageFacts } from './commands/package.ts';
import { KitError, messageOf } from './errors.ts';
import { exits } from './verdict/exit.ts';

/** A command of this package. */
export type Entry = {
  /** As it is called, and as its errors begin. */
  name: string;
  run: (argv: readonly string[], io: Io, version: string) => Promise<number>;
};

/** How long the process may linger on after the verdict, should something forget to close. */
const LINGER_MS = 2_000;
const COLUMNS_OFF_TERMINAL = 120;

const { stdout, stderr, env } = process;
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');
const interruption = new AbortController();

/** Runs the command of this process and sets its exit code. */
export async function runEdge({ name, run }: Entry): Promise<void> {
  const self = env.DIEU45_SELF ?? (root.includes('node_modules') ? `npx ${name}` : name);
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  process.on('SIGHUP', interrupt);
  stdout.on('error', ignoreBrokenPipe);
  stderr.on('error', ignoreBrokenPipe);
  process.on('uncaughtException', (error) => {
    process.exit(explain(error, name, self));
  });
  try {
    const { version } = await packageFacts(root);
    process.exitCode = await run(process.argv.slice(2), ioOf(self), version);
  } catch (error) {
    process.exitCode = explain(error, name, self);
  }
  setTimeout(() => {
    process.exit();
  }, LINGER_MS).unref();
}

function interrupt(): void {
  // The second time at once: the keeper of each server cleans up behind us.
  if (interruption.signal.aborted) process.exit(exits.interrupted);
  interruption.abort(new KitError(exits.interrupted, 'interrupted; everything was cleaned up'));
}

/** A reader that goes away (`| head`) ends no run: the verdict and the evidence still matter. */
function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') process.exit(exits.kit);
}

function wantsColor(): boolean {
  if (process.argv.includes('--no-color') || (env.NO_COLOR ?? '') !== '') return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stdout.isTTY && env.TERM !== 'dumb';
}

function ioOf(self: string): Io {
  const drawable =
    stdout.isTTY && stdout.columns > 0 && env.TERM !== 'dumb' && env.CI === undefined;
  return {
    out: stdout,
    err: stderr,
    color: wantsColor(),
    // A terminal that does not know its size says 0.
    width: (stdout.isTTY && stdout.columns) || COLUMNS_OFF_TERMINAL,
    root,
    cwd: process.cwd(),
    env,
    signal: interruption.signal,
    self,
    ...(drawable ? { terminal: stdout } : {}),
  };
}

/** Says what went wrong and what to type next; returns the exit code. */
function explain(error: unknown, name: string, self: string): number {
  if (error instanceof KitError) {
    stderr.write(`${name}: ${error.message}\n`);
    if (error.hint !== undefined)
      stderr.write(`  → ${error.hint.replace(/^dieu45 /, `${self} `)}\n`);
    return error.exitCode;
  }
  stderr.write(`${name}: the kit itself broke: ${messageOf(error)}\n`);
  if (error instanceof Error && error.stack !== undefined) stderr.write(`${error.stack}\n`);
  return exits.kit;
}
