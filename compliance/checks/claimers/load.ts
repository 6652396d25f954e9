/**
 * One run of a load scenario: load with faults → heal → drain → read once. Gives the path of the
 * recorded history; judges nothing.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hrtime } from 'node:process';
import type { Run, Sandbox } from '../../types.ts';
import { readConfig, setConfig } from './config.ts';
import { isAlive, openCrew, sinceNs } from './crew.ts';
import { openMonitor } from './monitor.ts';
import { enqueueSteps, poisonKind, strikesOf } from './plan.ts';
import { saveHistory } from './save.ts';
import type { Scenario } from './scenario.ts';
import { holds, lastingSession, mark, until, type Stage } from './stage.ts';
import { killServer, resume, successorOf, takeReport } from './strikes.ts';
import { watchSql } from './watch.ts';

export type Loaded = {
  history: string;
  /** Set when something did not come to its end in time, so that little can be told. */
  cutShort?: string;
};

/** Runs the scenario in the sandbox. Ends every process that it started, on every path. */
export async function runLoad(scenario: Scenario, sandbox: Sandbox, run: Run): Promise<Loaded> {
  await using stage = await openStage(scenario.config, sandbox, run);
  const cutShort = await perform(stage, scenario);
  const history = await read(stage, {
    file: scenario.file,
    kinds: [...scenario.kinds, poisonKind],
    cadenceMs: scenario.sweepers.every_ms,
  });
  return { history, ...(cutShort !== undefined && { cutShort }) };
}

/** Plants the log of row changes, sets the queue's configuration, and begins to watch. */
export async function openStage(
  config: Readonly<Record<string, string>>,
  sandbox: Sandbox,
  run: Run,
): Promise<Stage & AsyncDisposable> {
  const originNs = hrtime.bigint();
  const nowNs = (): number => sinceNs(originNs);
  const folder = join(run.scratch, 'workers');
  await mkdir(folder, { recursive: true });
  await sandbox.plant(watchSql);
  {
    await using admin = await sandbox.session('dieu45 settings', 'workflow_admin');
    await setConfig(admin, config);
  }
  const monitor = openMonitor(sandbox, nowNs);
  const crew = openCrew({
    url: sandbox.url,
    seed: run.seed,
    folder,
    originNs,
    onReport: (member, report) => {
      takeReport(stage, member, report);
    },
    onEnd: (member, code, signal) => {
      if (run.signal.aborted) return;
      if (code !== 0 && signal !== 'SIGKILL')
        stage.broken ??= new Error(`worker ${member.proc} broke: ${member.stderr().trim()}`);
      const job = successorOf(member, signal);
      if (job !== undefined && !stage.closed) crew.hire(member.name, job);
    },
  });
  const stage: Stage & AsyncDisposable = {
    sandbox,
    run,
    crew,
    monitor,
    nowNs,
    session: lastingSession(sandbox, 'dieu45 coordinator'),
    events: [],
    struck: 0,
    stopped: new Set(),
    done: 0,
    broken: undefined,
    closed: false,
    [Symbol.asyncDispose]: async () => {
      stage.closed = true;
      await crew[Symbol.asyncDispose]();
      await monitor[Symbol.asyncDispose]();
    },
  };
  return stage;
}

/** The phases; says what did not come to its end in time. */
async function perform(stage: Stage, scenario: Scenario): Promise<string | undefined> {
  const { crew } = stage;
  const { limits, claimers, producers, sweepers, faults } = scenario;
  for (let index = 0; index < sweepers.count; index += 1) {
    const { every_ms: everyMs, limit } = sweepers;
    const killAfterSweeps = index < faults.kill_reaper ? 3 : null;
    crew.hire(`s${index}`, { is: 'sweep', everyMs, limit, promote: index === 0, killAfterSweeps });
  }
  const workers = Array.from({ length: claimers }, (_, worker) =>
    crew.hire(`w${worker}`, { is: 'claim', scenario, worker, turn: 0, struck: 0 }),
  );
  const suppliers = Array.from({ length: producers }, (_, producer) =>
    crew.hire(`p${producer}`, {
      is: 'produce',
      steps: enqueueSteps(scenario, stage.run.seed, producer),
    }),
  );
  await Promise.all([...workers, ...suppliers].map(({ ready }) => ready));
  mark(stage, 'load');
  // At once, or their calls with one key would not meet.
  crew.tell('go');
  const killing = killServer(stage, scenario);
  const loaded = await until(stage, limits.load_ms, () => isLoaded(stage, scenario));
  await killing;

  mark(stage, 'heal');
  crew.tell('calm');
  for (const member of stage.stopped) resume(stage, member);
  const healed = await until(stage, limits.heal_ms, () => holds(stage, nothingExpired));
  mark(stage, 'drain');
  const drained = await until(stage, limits.drain_ms, () => holds(stage, nothingLeft));
  await dismiss(stage, limits.heal_ms);
  if (!loaded) return `the load was not through after ${limits.load_ms} ms`;
  if (!healed) return `expired leases were still there after ${limits.heal_ms} ms`;
  if (!drained) return `jobs were still waiting after ${limits.drain_ms} ms`;
  return undefined;
}

/** Everything is enqueued, and every planned fault has struck. */
async function isLoaded(stage: Stage, scenario: Scenario): Promise<boolean> {
  const { claimers, producers, faults } = scenario;
  if (stage.done < producers || stage.stopped.size > 0) return false;
  const planned = Array.from({ length: claimers }, (_, worker) =>
    strikesOf(scenario, stage.run.seed, worker),
  ).flat().length;
  return stage.struck >= planned + faults.kill_reaper && (await holds(stage, noPoisonLeft));
}

const live = `('queued', 'leased', 'in_progress', 'retry_waiting')`;
const noPoisonLeft = `select not exists (
  select from public.job_queue where job_kind = '${poisonKind}' and status in ${live}) as ok`;
const nothingExpired = `select not exists (
  select from public.job_queue where leased_until <= clock_timestamp()) as ok`;
const nothingLeft = `select not exists (
  select from public.job_queue where status in ${live}) as ok`;

/** Tells everybody to stop and waits for that; whoever does not is killed when the stage closes. */
export async function dismiss(stage: Stage, limitMs: number): Promise<void> {
  const { crew } = stage;
  crew.tell('stop');
  await until(stage, limitMs, () => !crew.members().some(({ child }) => isAlive(child)));
  stage.closed = true;
  if (stage.broken !== undefined) throw stage.broken as Error;
}

/** The final reads, and everything that was recorded, in one file. */
export async function read(
  stage: Stage,
  { file, kinds, cadenceMs }: { file: string; kinds: readonly string[]; cadenceMs: number },
): Promise<string> {
  mark(stage, 'read');
  const { crew, monitor, run, events } = stage;
  const session = await stage.session();
  const path = join(run.scratch, 'history.jsonl');
  await saveHistory({
    path,
    session,
    header: { scenario: file, seed: run.seed, config: await readConfig(session, kinds, cadenceMs) },
    files: crew.members().map((member) => member.file),
    own: [...events, ...monitor.events()],
  });
  return path;
}
