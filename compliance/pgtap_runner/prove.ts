/** Runs test files, some at a time, each within its limit, and hands over the results in order. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { readScript, showWhere, type Step } from '../checks/pgtap/script.ts';
import { runSuite, type SuiteRun } from '../checks/pgtap/suite.ts';
import { messageOf } from '../errors.ts';
import type { Session } from '../types.ts';
import { pgtapForNow, type Place } from './place.ts';
import type { FileResult } from './result.ts';
import { enclose } from './transaction.ts';

export type Proving = {
  place: Place;
  cwd: string;
  jobs: number;
  limitMs: number;
  signal: AbortSignal;
  /** Files that are running now, whenever that changes. */
  onRunning?: (files: readonly string[]) => void;
  /** Each result, in the order of the files. */
  onResult?: (result: FileResult) => void;
};

/** @throws the signal's reason when interrupted, and KitError 69 when no database can be had. */
export async function proveFiles(
  files: readonly string[],
  how: Proving,
): Promise<readonly FileResult[]> {
  const results: (FileResult | undefined)[] = files.map(() => undefined);
  const running = new Set<string>();
  let next = 0;
  let told = 0;
  const worker = async (): Promise<void> => {
    for (let mine = next++; mine < files.length; mine = next++) {
      const file = files[mine];
      if (file === undefined) return;
      running.add(file);
      how.onRunning?.([...running]);
      results[mine] = await proveFile(file, how);
      running.delete(file);
      how.onRunning?.([...running]);
      for (let ready = results[told]; ready; ready = results[told]) {
        how.onResult?.(ready);
        told += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(how.jobs, files.length) }, worker));
  how.signal.throwIfAborted();
  return results.filter((result) => result !== undefined);
}

async function proveFile(file: string, how: Proving): Promise<FileResult> {
  const began = performance.now();
  const told = await tellOf(file, how);
  return { file, ...told, elapsedMs: Math.round(performance.now() - began) };
}

type Told = Omit<FileResult, 'file' | 'elapsedMs'>;

async function tellOf(file: string, how: Proving): Promise<Told> {
  let steps: readonly Step[];
  try {
    steps = await readScript(file, how.cwd);
    if (how.place.inPlace) enclose(steps);
  } catch (error) {
    return broken(messageOf(error));
  }
  await using room = await how.place.room(`pgtap-runner ${file}`.slice(0, 60));
  try {
    return read(await runInTime(room.session, steps, how));
  } catch (error) {
    how.signal.throwIfAborted();
    return broken(messageOf(error));
  }
}

/** Gives up a file that runs for too long; leaving the room then ends its session, and so its query. */
async function runInTime(
  session: Session,
  steps: readonly Step[],
  how: Proving,
): Promise<SuiteRun> {
  const settled = new AbortController();
  const run = runIn(session, steps, how);
  const limit = delay(how.limitMs, undefined, {
    signal: AbortSignal.any([how.signal, settled.signal]),
  });
  try {
    return await Promise.race([
      run,
      limit.then(() => {
        throw new Error(`it did not end within ${how.limitMs / 1000} s`);
      }),
    ]);
  } finally {
    settled.abort();
    run.catch(() => undefined);
    limit.catch(() => undefined);
  }
}

async function runIn(
  session: Session,
  steps: readonly Step[],
  { place, signal }: Proving,
): Promise<SuiteRun> {
  if (!place.inPlace) return runSuite(session.client, steps, { signal });
  const enclosed = enclose(steps);
  await session.query(enclosed.begin);
  try {
    await pgtapForNow(session);
    return await runSuite(session.client, enclosed.steps, { signal });
  } finally {
    await session.query('rollback').catch(() => undefined);
  }
}

function read({ report, output, stopped }: SuiteRun): Told {
  const { tests, problems, skippedAll } = report;
  // An error explains a short plan; both would say one thing twice.
  const why = stopped
    ? [
        `${showWhere(stopped.at)}: ${stopped.message} (SQLSTATE ${stopped.code}); the rest did not run`,
      ]
    : problems;
  return {
    tests,
    output,
    problems: why,
    ...(skippedAll === undefined ? {} : { skipped: skippedAll.replace(/^skip\S*\s*/i, '') }),
  };
}

function broken(problem: string): Told {
  return { tests: [], output: [], problems: [problem] };
}
