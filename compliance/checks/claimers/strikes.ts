/** The faults that need the coordinator's hand: replacing, resuming, ending backends, the server. */
import type { Member } from './crew.ts';
import type { Job, Report } from './orders.ts';
import type { Scenario } from './scenario.ts';
import { holds, lastingSession, until, type Stage } from './stage.ts';

/** How long a stopped worker's lease may take to end, and a server to die and come back. */
const LIMIT_MS = 30_000;
/** How long a zombie waits for a successor to meet. */
const PATIENCE_MS = 6_000;

/** What a worker reports of its own faults. */
export function takeReport(stage: Stage, member: Member, report: Report): void {
  if (report.is === 'done') stage.done += 1;
  if (report.is !== 'strike') return;
  if (member.job.is === 'claim') {
    // A poison job kills its worker outside the plan: then the plan has come no further.
    stage.struck += report.struck - member.job.struck;
    member.job = { ...member.job, turn: report.turn, struck: report.struck };
  } else stage.struck += 1;
  if (report.strike === 'stop_worker') {
    stage.stopped.add(member);
    stage.run.progress(`${member.proc} is stopped`);
    inBackground(stage, resumeLater(stage, member, report.job, report.token));
  }
  if (report.strike === 'terminate_backend') inBackground(stage, terminate(stage, report.pid));
}

/** Another incarnation takes the place of one that was killed; `undefined` when none is wanted. */
export function successorOf({ job }: Member, signal: string | null): Job | undefined {
  if (signal !== 'SIGKILL') return undefined;
  if (job.is === 'claim') return job;
  // A reaper is struck once.
  return job.is === 'sweep' ? { ...job, killAfterSweeps: null } : undefined;
}

/** Lets a stopped worker go on. */
export function resume({ stopped }: Stage, member: Member): void {
  if (stopped.delete(member)) member.child.kill('SIGCONT');
}

/**
 * It goes on when another worker holds its job, which is when an accepted stale call does most harm;
 * or when its lease is over and nobody has taken the job in good time.
 */
async function resumeLater(
  stage: Stage,
  member: Member,
  job: string,
  token: string,
): Promise<void> {
  // A connection of its own: the coordinator's may be busy with a condition of its own.
  const beside = { ...stage, session: lastingSession(stage.sandbox, 'dieu45 strike') };
  const taken = `select lease_token <> $2 or status in ('succeeded', 'dead_letter') as ok
                   from public.job_queue where job_id = $1`;
  const over = `select lease_token is distinct from $2 or leased_until < clock_timestamp() as ok
                  from public.job_queue where job_id = $1`;
  await until(stage, PATIENCE_MS, () => holds(beside, taken, [job, token]));
  await until(stage, LIMIT_MS, () => holds(beside, over, [job, token]));
  resume(stage, member);
}

async function terminate(stage: Stage, pid: number): Promise<void> {
  await using session = await stage.sandbox.session('dieu45 strike');
  await session.query('select pg_terminate_backend($1)', [pid]);
}

/** SIGKILL of every process of the server, once some jobs are done; then it is started again. */
export async function killServer(stage: Stage, { faults, jobs }: Scenario): Promise<void> {
  const { sandbox, events, monitor, nowNs } = stage;
  const { server } = sandbox;
  if (faults.kill_server === 0) return;
  if (server.kill === undefined || server.restart === undefined)
    throw new Error('this scenario kills its server; its checks need `server_kill`');
  const beside = { ...stage, session: lastingSession(sandbox, 'dieu45 strike') };
  for (let kill = 1; kill <= faults.kill_server; kill += 1) {
    const some = Math.floor((jobs * kill) / (faults.kill_server + 2));
    const done = `select count(*) >= ${some} as ok from public.job_queue where status = 'succeeded'`;
    await until(stage, LIMIT_MS, () => holds(beside, done));
    events.push({ is: 'fault', kind: 'kill_server', proc: 'server', ns: nowNs() });
    await server.kill();
    monitor.serverDied();
    await server.restart();
  }
}

/** What fails beside the main path ends the run as its own failure would. */
function inBackground(stage: Stage, work: Promise<void>): void {
  work.catch((error: unknown) => {
    stage.broken ??= error;
  });
}
