/**
 * One task: a sandbox, a scratch folder, a time limit, and the observations that come of it.
 * Whatever a check does, this ends: a check that hangs is given up after its limit, and the sandbox
 * and the scratch folder are gone afterwards.
 */
import { tmpdir } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { CoverageError, messageOf } from '../errors.ts';
import { guardedFolder } from './guarded_folder.ts';
import type { Ended, Observation, RunCheck, Sandbox, Task } from '../types.ts';

export type Execution = {
  run: RunCheck;
  /** Makes the sandbox; it is disposed of here. Its making does not count against the limit. */
  sandbox(): Promise<Sandbox>;
  root: string;
  seed: number;
  exhaustive: boolean;
  limitMs: number;
  /** How long a check may take to end by itself once it was told to stop. */
  graceMs: number;
  /** The whole run's signal. */
  signal: AbortSignal;
  progress(text: string): void;
  /** Keeps an evidence file and says under which path; without it, such files are not kept. */
  keep?: (file: FileObservation) => Promise<string>;
};
export type FileObservation = Extract<Observation, { is: 'file' }>;
export type Executed = { seen: readonly Observation[]; ended: Ended };

/** Runs one task to its end. Throws only when the whole run was aborted: the signal's reason. */
export async function execute(task: Task, how: Execution): Promise<Executed> {
  const began = performance.now();
  const elapsed = (): number => Math.round(performance.now() - began);
  const seen: Observation[] = [];
  let ended: Ended;
  try {
    const inTime = await perform(task, how, seen);
    ended = { how: inTime ? 'completed' : 'timed_out', elapsedMs: elapsed() };
  } catch (error) {
    const cause = error instanceof CoverageError ? 'coverage' : 'kit';
    ended = { how: 'threw', message: messageOf(error), cause, elapsedMs: elapsed() };
  }
  how.signal.throwIfAborted();
  return { seen, ended };
}

/** Scratch folder, sandbox, check: opened in this order, closed in the other, on every path. */
async function perform(task: Task, how: Execution, seen: Observation[]): Promise<boolean> {
  await using scratch = await guardedFolder(tmpdir(), 'dieu45-scratch-');
  // Closing the sandbox under a check that ignores its signal fails its queries, and so ends it.
  await using sandbox = await how.sandbox();
  try {
    return await observeInTime(task, how, sandbox, scratch.path, seen);
  } finally {
    await keepFiles(seen, how.keep);
  }
}

/** Collects what the check says; false when it did not end within its limit. */
async function observeInTime(
  task: Task,
  how: Execution,
  sandbox: Sandbox,
  scratch: string,
  seen: Observation[],
): Promise<boolean> {
  const limit = new AbortController();
  const signal = AbortSignal.any([how.signal, limit.signal]);
  const observations = how.run(task, sandbox, {
    seed: how.seed,
    exhaustive: how.exhaustive,
    signal,
    root: how.root,
    scratch,
    progress: (text) => {
      how.progress(text);
    },
  });
  const work = observe(task, observations, signal, seen);
  const settled = new AbortController();
  const givenUp = giveUp(how, limit, settled.signal);
  try {
    await Promise.race([work, givenUp]);
    return !limit.signal.aborted;
  } catch (error) {
    // What a check throws because it was told to stop says only that it was told to stop.
    if (limit.signal.aborted) return false;
    throw error;
  } finally {
    settled.abort();
    work.catch(() => undefined);
  }
}

async function observe(
  task: Task,
  observations: AsyncIterable<Observation>,
  signal: AbortSignal,
  seen: Observation[],
): Promise<void> {
  const known = new Set(task.specs.map(({ id }) => id));
  for await (const one of observations) {
    if (signal.aborted) return;
    if (one.check !== undefined && !known.has(one.check))
      throw new Error(`an observation names "${one.check}", which is no check of this task`);
    seen.push(one);
  }
}

/** Aborts at the limit, and resolves when the check has not ended within the grace after that. */
async function giveUp(
  { limitMs, graceMs, signal }: Execution,
  limit: AbortController,
  settled: AbortSignal,
): Promise<void> {
  try {
    await delay(limitMs, undefined, { signal: AbortSignal.any([signal, settled]) });
    limit.abort(new Error('the time limit has passed'));
  } catch {
    if (settled.aborted) return;
  }
  await delay(graceMs, undefined, { signal: settled }).catch(() => undefined);
}

/** Replaces the path of each evidence file by the one it is kept under, or forgets the file. */
async function keepFiles(seen: Observation[], keep: Execution['keep']): Promise<void> {
  for (const [index, one] of [...seen.entries()].reverse()) {
    if (one.is !== 'file') continue;
    if (keep === undefined) seen.splice(index, 1);
    else seen[index] = { ...one, path: await keep(one) };
  }
}
