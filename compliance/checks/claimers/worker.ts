/**
 * A worker process. Its order is the first line of its standard input; it ends when that is closed,
 * so that no worker outlives its coordinator. Run as plain node from the built folder.
 */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { writeHistory } from '../../history/file.ts';
import { performRole } from '../timed/perform.ts';
import { claimer } from './claimer.ts';
import { openHands } from './hands.ts';
import type { Command, Job, Order, Report } from './orders.ts';
import { producer } from './producer.ts';
import { sweeper } from './sweeper.ts';
import type { Desk } from './worker_parts.ts';

const state = { calm: false, going: new AbortController(), stop: new AbortController() };
const roles: Readonly<Record<Job['is'], string>> = {
  claim: 'dot_executor',
  produce: 'dot_producer',
  sweep: 'workflow_admin',
  timed: 'dot_executor',
};

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (!line.startsWith('{')) obey(line as Command);
  else void run(JSON.parse(line) as Order).catch(fail);
});
lines.on('close', () => {
  state.stop.abort();
});

function obey(command: Command): void {
  // Whoever is told to finish or to end need not wait for the beginning any more.
  state.going.abort();
  if (command === 'go') return;
  state.calm = true;
  if (command === 'stop') state.stop.abort();
}

async function run({ proc, url, file, originNs, seed, job }: Order): Promise<void> {
  using writer = writeHistory(file);
  const origin = BigInt(originNs);
  const pause = (ms: number): Promise<void> =>
    delay(ms, undefined, { signal: state.stop.signal }).catch(() => undefined);
  const hands = await openHands({
    proc,
    url,
    role: roles[job.is],
    writer,
    nowNs: () => Number(process.hrtime.bigint() - origin),
    pause,
  });
  const desk: Desk = {
    hands,
    seed,
    begun: begun(state.going.signal),
    isCalm: () => state.calm,
    isStopped: () => state.stop.signal.aborted,
    report,
    pause,
    signalSelf: (signal) => process.kill(process.pid, signal),
  };
  report({ is: 'ready', pid: hands.pid() });
  await work(desk, job);
  await hands.close();
  lines.close();
  process.stdin.destroy();
}

/** Resolves when the signal is given. */
async function begun(going: AbortSignal): Promise<void> {
  if (!going.aborted) await once(going, 'abort');
}

function work(desk: Desk, job: Job): Promise<void> {
  switch (job.is) {
    case 'claim':
      return claimer(desk, job);
    case 'produce':
      return producer(desk, job);
    case 'sweep':
      return sweeper(desk, job);
    case 'timed':
      return performRole(desk, job.role);
  }
}

/** Written at once: the next instruction may be the last. */
function report(line: Report): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function fail(error: unknown): void {
  writeSync(2, `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(70);
}
