/** One run of a timed scenario on the real clock. Gives the path of its history; judges nothing. */
import type { Alarm } from '../../history/events.ts';
import type { Run, Sandbox } from '../../types.ts';
import { isAlive, type Member } from '../claimers/crew.ts';
import { dismiss, openStage, read, type Loaded } from '../claimers/load.ts';
import { holds, mark, until, type Stage } from '../claimers/stage.ts';
import { us } from '../claimers/statements.ts';
import { kindsThat, roleOf, type Actor, type TimedScenario } from './scenario.ts';

/** Runs the scenario in the sandbox. Ends every process that it started, on every path. */
export async function runTimed(
  scenario: TimedScenario,
  sandbox: Sandbox,
  run: Run,
): Promise<Loaded> {
  await using stage = await openStage(scenario.config, sandbox, run);
  const cutShort = await perform(stage, scenario);
  const history = await read(stage, {
    file: scenario.file,
    kinds: scenario.jobs.map(({ kind }) => kind),
    cadenceMs: scenario.reaper?.every_ms ?? 0,
  });
  return { history, ...(cutShort !== undefined && { cutShort }) };
}

async function perform(stage: Stage, scenario: TimedScenario): Promise<string | undefined> {
  const { crew } = stage;
  const { jobs, cast, reaper, limit_ms: limitMs } = scenario;
  // A template database grows old: the one sweep that the alarms are measured from.
  if (reaper === null) await sweepOnce(stage);
  const steps = jobs.map(({ kind, count }) => ({
    jobs: Array.from({ length: count }, (_, index) => ({
      key: `${kind}-${index + 1}`,
      kind,
      priority: 0,
    })),
    cut: false,
  }));
  crew.hire('producer', { is: 'produce', steps });
  crew.tell('go');
  if (reaper !== null)
    crew.hire('reaper', {
      is: 'sweep',
      everyMs: reaper.every_ms,
      limit: reaper.limit,
      promote: false,
      killAfterSweeps: null,
    });
  hire(
    stage,
    cast.filter(({ does }) => does !== 'rescue'),
  );
  mark(stage, 'load');
  // Whoever goes on with a dead worker's job begins when that worker is dead, or it would take the job.
  const rescued = kindsThat(scenario, 'rescue');
  const struck = await until(stage, limitMs, () => victimsOf(stage, rescued).every(isDead));
  hire(
    stage,
    cast.filter(({ does }) => does === 'rescue'),
  );
  const through = struck && (await until(stage, limitMs, () => isThrough(stage, scenario)));
  const alarmed = await alarms(stage, scenario);
  mark(stage, 'heal');
  if (reaper === null) await sweepOnce(stage);
  crew.tell('calm');
  mark(stage, 'drain');
  const renewed = [...kindsThat(scenario, 'renew')];
  const ended = await until(stage, limitMs, () => holds(stage, allEnded, [renewed]));
  await dismiss(stage, limitMs);
  if (!through) return `the scenario was not through after ${limitMs} ms`;
  if (!alarmed) return `the alarms were not all raised after ${limitMs} ms`;
  return ended ? undefined : `renewing workers did not finish in ${limitMs} ms`;
}

function hire({ crew }: Stage, cast: readonly Actor[]): void {
  for (const actor of cast)
    for (let index = 1; index <= actor.processes; index += 1)
      crew.hire(`${actor.name}${index}`, { is: 'timed', role: roleOf(actor) });
}

/** The processes that die with a job of these kinds. */
function victimsOf({ crew }: Stage, kinds: ReadonlySet<string>): Member[] {
  return crew
    .members()
    .filter(
      ({ job }) =>
        job.is === 'timed' &&
        job.role.does === 'die' &&
        job.role.kinds.some((kind) => kinds.has(kind)),
    );
}

function isDead({ child }: Member): boolean {
  return !isAlive(child);
}

/** Every victim is dead, every job that ends has ended, and the renewing ones went on long enough. */
async function isThrough(stage: Stage, scenario: TimedScenario): Promise<boolean> {
  const { cast, jobs, renew_for_ms: renewForMs, reaper } = scenario;
  const victims = cast.filter(({ does }) => does === 'die');
  if (stage.struck < victims.reduce((sum, { processes }) => sum + processes, 0)) return false;
  if (reaper === null) return true;
  const renewed = kindsThat(scenario, 'renew');
  const ending = jobs.filter(({ kind, stays }) => !stays && !renewed.has(kind));
  return (
    (await holds(stage, allEnded, [ending.map(({ kind }) => kind)])) &&
    (await holds(stage, heldLongEnough, [[...renewed], renewForMs / 1000]))
  );
}

const allEnded = `select not exists (
  select from public.job_queue
   where job_kind = any ($1) and status not in ('succeeded', 'dead_letter')) as ok`;
const heldLongEnough = `select coalesce(bool_and(
    leased_at < clock_timestamp() - make_interval(secs => $2)), true) as ok
  from public.job_queue where job_kind = any ($1)`;

async function sweepOnce(stage: Stage): Promise<void> {
  await using session = await stage.sandbox.session('dieu45 sweep', 'workflow_admin');
  await session.query('select fn_job_lease_reaper()');
}

/** Watches the gap view until it has named everything that it must; each first sight is recorded. */
async function alarms(stage: Stage, scenario: TimedScenario): Promise<boolean> {
  if (scenario.alarms.length === 0) return true;
  const seen = new Map<string, Alarm>();
  await using session = await stage.sandbox.session('dieu45 watch', 'dot_auditor');
  const all = await until(stage, scenario.limit_ms, async () => {
    const rows = await session.query<{
      source: 'gap' | 'health';
      reason: string;
      job: string | null;
      at_us: string;
    }>(
      `select 'gap' as source, g.reason, g.job_id::text as job, ${us('clock_timestamp()')} as at_us
         from public.v_job_silent_gap g
       union all
       select 'health', h.signal, null, ${us('clock_timestamp()')}
         from public.v_queue_health h
        where h.level = 'alarm'`,
    );
    for (const { source, reason, job, at_us: atUs } of rows) {
      const key = `${source} ${reason} ${job ?? ''}`;
      if (!seen.has(key))
        seen.set(key, { is: 'alarm', source, reason, job, atUs: Number(atUs), ns: stage.nowNs() });
    }
    const named = new Set([...seen.values()].map(({ reason }) => reason));
    return scenario.alarms.every((reason) => named.has(reason));
  });
  stage.events.push(...seen.values());
  return all;
}
