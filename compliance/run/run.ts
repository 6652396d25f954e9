/**
 * The run: selected checks → tasks → sandboxes → observations → verdicts. It opens servers, and
 * closes them on every path; what it finds it tells by events and returns as judged clauses.
 */
import { performance } from 'node:perf_hooks';
import { messageOf } from '../errors.ts';
import type {
  CheckResult,
  CheckSpec,
  ClauseResult,
  RunCheck,
  Server,
  Target,
  Task,
} from '../types.ts';
import { judge } from '../verdict/judge.ts';
import { mergeClause } from '../verdict/merge.ts';
import type { OnEvent, Span } from './events.ts';
import type { Executed, FileObservation } from './execute.ts';
import { execute } from './execute.ts';
import { everything, limitOf, plan, taskName, waits, wantsOwnServer, weightOf } from './plan.ts';
import type { Registry } from './registry.ts';
import { runnerOf } from './registry.ts';
import { schedule } from './schedule.ts';
import type { SelectedClause } from './select.ts';

export type RunRequest = {
  selected: readonly SelectedClause[];
  target: Target;
  /** Project root: check files are relative to it. */
  root: string;
  /** Makes an opened server ready for sandboxes: builds `template`. */
  prepare(server: Server): Promise<void>;
  /** The template that each sandbox is cloned from. */
  template: string;
  kinds: Registry;
  /** The release under test, `2.0`: which checks apply. */
  release: string;
  seed: number;
  /** Samples are taken whole. */
  exhaustive: boolean;
  jobs: number;
  /** How long a check may take to end by itself once it was told to stop. */
  graceMs?: number;
  /** Aborting it closes everything; the run then throws the signal's reason. */
  signal: AbortSignal;
  onEvent: OnEvent;
  keep?: (task: Task, file: FileObservation) => Promise<string>;
};

export type RunOutcome = {
  /** In the order they were selected. */
  clauses: readonly ClauseResult[];
  /** Of the main server; unset when nothing had to run on one. */
  serverVersionNum?: number;
  spans: readonly Span[];
};

/** @throws KitError 69 when the target cannot be used; the signal's reason when it is aborted. */
export async function runChecks(request: RunRequest): Promise<RunOutcome> {
  const { selected, signal, onEvent } = request;
  onEvent({ is: 'selected', clauses: selected });
  signal.throwIfAborted();
  const clock = stopwatch();
  const board = scoreboard(selected, onEvent);
  const given = (can: Server['can']) => plan(selected, { can, release: request.release });
  const beforehand = given(everything);
  if (beforehand.tasks.length === 0) {
    for (const one of beforehand.settled) board.settle(one.spec, one.verdict);
    return { clauses: board.clauses(), spans: clock.spans };
  }

  const openServer = async (): Promise<Server> => {
    const server = await clock.time('start the server', () => request.target.open(signal));
    try {
      onEvent({ is: 'phase', text: 'installing the substrate' });
      await clock.time('build the template', () => request.prepare(server));
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  };

  onEvent({ is: 'phase', text: `starting ${request.target.name}` });
  const server = await openServer();
  onEvent({ is: 'ready', versionNum: server.versionNum });
  try {
    const { tasks, settled } = given(server.can);
    for (const one of settled) board.settle(one.spec, one.verdict);
    await schedule({
      items: tasks,
      jobs: request.jobs,
      waits,
      weight: weightOf,
      signal,
      run: async (task) => {
        onEvent({ is: 'task_started', task });
        const executed = await clock.time(taskName(task), () =>
          runTask(task, request, server, openServer),
        );
        board.judge(task, executed);
      },
    });
    signal.throwIfAborted();
    return { clauses: board.clauses(), serverVersionNum: server.versionNum, spans: clock.spans };
  } finally {
    await clock.time('stop the server', async () => {
      await server[Symbol.asyncDispose]();
    });
  }
}

/** Runs one task on the main server, or on one of its own; only an aborted run throws. */
async function runTask(
  task: Task,
  request: RunRequest,
  main: Server,
  openServer: () => Promise<Server>,
): Promise<Executed> {
  const { signal, keep } = request;
  let run: RunCheck;
  let server = main;
  try {
    run = await runnerOf(request.kinds, task.kind);
    if (wantsOwnServer(task)) server = await openServer();
  } catch (error) {
    signal.throwIfAborted();
    return {
      seen: [],
      ended: { how: 'threw', message: messageOf(error), cause: 'kit', elapsedMs: 0 },
    };
  }
  try {
    return await execute(task, {
      run,
      sandbox: () => server.sandbox(request.template),
      root: request.root,
      seed: request.seed,
      exhaustive: request.exhaustive,
      limitMs: limitOf(task),
      graceMs: request.graceMs ?? 2_000,
      signal,
      progress: (text) => {
        request.onEvent({ is: 'progress', task, text });
      },
      ...(keep === undefined ? {} : { keep: (file: FileObservation) => keep(task, file) }),
    });
  } finally {
    if (server !== main) await server[Symbol.asyncDispose]();
  }
}

/** Gathers results; tells of each check, and of each clause once its last check is in. */
function scoreboard(selected: readonly SelectedClause[], onEvent: OnEvent) {
  const results = new Map<CheckSpec, CheckResult>();
  const done = new Map<SelectedClause, ClauseResult>();
  const finish = (): void => {
    for (const one of selected) {
      const checks = one.specs.flatMap((spec) => results.get(spec) ?? []);
      if (done.has(one) || checks.length < one.specs.length) continue;
      const result = mergeClause(one.clause, checks);
      done.set(one, result);
      onEvent({ is: 'clause_done', result });
    }
  };
  const add = (result: CheckResult): void => {
    results.set(result.spec, result);
    onEvent({ is: 'check_done', result });
  };
  finish();
  return {
    settle(spec: CheckSpec, verdict: CheckResult['verdict']): void {
      add({ spec, verdict, observations: [], elapsedMs: 0 });
      finish();
    },
    judge(task: Task, { seen, ended }: Executed): void {
      for (const spec of task.specs) {
        const observations = seen.filter(({ check }) => check === undefined || check === spec.id);
        const verdict = judge(spec, observations, ended);
        add({ spec, verdict, observations, elapsedMs: ended.elapsedMs });
      }
      finish();
    },
    clauses: (): ClauseResult[] => selected.flatMap((one) => done.get(one) ?? []),
  };
}

/** Measures steps from one common zero. */
function stopwatch() {
  const zero = performance.now();
  const now = (): number => Math.round(performance.now() - zero);
  const spans: Span[] = [];
  return {
    spans,
    async time<T>(what: string, work: () => Promise<T>): Promise<T> {
      const fromMs = now();
      try {
        return await work();
      } finally {
        spans.push({ what, fromMs, toMs: now() });
      }
    },
  };
}
