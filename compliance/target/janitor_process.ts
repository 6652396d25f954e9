/** Starts the janitor and, at the end, lets it work. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { KitError } from '../errors.ts';
import type { JanitorOrder, JanitorReport } from './janitor.ts';

export type Janitor = {
  /** Lets it take everything away and waits. Throws KitError 69 with what it could not take away. */
  close(): Promise<void>;
};

/**
 * Starts a janitor in a session of its own, so that no signal of the terminal reaches it. Resolves
 * when it has its order: nothing may be made on the server before that.
 */
export async function startJanitor(order: JanitorOrder): Promise<Janitor> {
  const child = spawn(execPath, [script()], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: {},
  });
  child.stdin.on('error', () => undefined);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const ended = once(lines, 'close');
  const ready = once(lines, 'line');
  lines.on('line', (line) => said.push(line));
  child.once('error', (error) => (stderr += error.message));
  // By the pipe, since an argument or a variable would show the password to other users.
  child.stdin.write(`${JSON.stringify(order)}\n`);
  await Promise.race([ready, ended]);
  if (said[0] !== 'ready')
    throw new KitError(70, `the janitor process does not run: ${stderr.trim()}`);
  return {
    async close() {
      child.stdin.end();
      await ended;
      const report = said[1] === undefined ? { problem: stderr.trim() } : readReport(said[1]);
      if (report.problem !== undefined) {
        throw new KitError(
          69,
          `not everything could be taken away: ${report.problem}`,
          `drop the databases whose names begin with ${order.prefix} by hand`,
        );
      }
    },
  };
}

function readReport(line: string): JanitorReport {
  return JSON.parse(line) as JanitorReport;
}

/** The built worker beside this file, or in the built folder when this runs from its source. */
function script(): string {
  for (const place of ['./janitor.js', '../../dist/target/janitor.js']) {
    const path = fileURLToPath(new URL(place, import.meta.url));
    if (existsSync(path)) return path;
  }
  throw new KitError(70, 'the janitor process is not built', 'run scripts/build');
}
