/**
 * Runs a matrix of runs: every subject at once, round by round, in a transaction that is rolled back.
 * A round claims whatever can be had, ends each run as its path says, lets leases run out, reaps, and
 * lets every delay pass. It stops when nothing is live, or long after every budget is spent.
 */
import { shiftWithin } from '../../../sandbox/shift.ts';
import { plantWithin } from '../../../sandbox/silently.ts';
import type { Session } from '../../../types.ts';
import { assertionOf, type Cell } from '../cell.ts';
import { configure, drive } from '../job.ts';
import type { Json } from '../json.ts';
import type { Matrix } from '../matrix.ts';
import { endingOfRun, expectationOf, subjectsOf, type Subject } from './plan.ts';
import { runsFile, type Ending, type RunsFile } from './schema.ts';

/** More than any budget of the file: a job that still runs then has no bound. */
const SPARE_ROUNDS = 4;
const LEASE_SECONDS = 60;
/** Longer than the longest delay of an attempt, jitter included. */
const DELAY_SECONDS = 5_000;

export const runs: Matrix<typeof runsFile> = {
  schema: runsFile,
  async *run({ data }, sandbox, how) {
    await using session = await sandbox.session('matrix');
    const subjects = subjectsOf(data);
    await session.query('begin');
    try {
      await session.query('savepoint nothing_yet');
      const grants = await play(session, subjects, data, how.signal);
      for (const cell of await cellsOf(session, subjects, grants, data)) {
        yield assertionOf(data.clause, cell);
      }
      const total = [...grants.values()].reduce((sum, { length }) => sum + length, 0);
      yield { is: 'count', name: 'runs', value: total };
      await session.query('rollback to savepoint nothing_yet');
      how.progress('at the ceiling');
      for (const cell of await ceilingCells(session, data)) yield assertionOf(data.clause, cell);
    } finally {
      await session.query('rollback');
    }
  },
};

/** Kind → the maximum that each of its grants was told, in order. */
type Grants = ReadonlyMap<string, number[]>;

async function play(
  session: Session,
  subjects: readonly Subject[],
  file: RunsFile,
  signal: AbortSignal,
): Promise<Grants> {
  const byKind = new Map(subjects.map((subject) => [subject.kind, subject]));
  const grants = new Map(subjects.map(({ kind }) => [kind, [] as number[]]));
  for (const { kind, maximum } of subjects) {
    if (maximum !== undefined) await setMaximum(session, kind, maximum);
    await drive(session, kind, ['enqueue']);
  }
  const rounds = Math.max(file.default_maximum, ...file.maximums) + SPARE_ROUNDS;
  for (let round = 0; round < rounds; round += 1) {
    signal.throwIfAborted();
    const claimed = await claimAll(session, [...byKind.keys()]);
    if (claimed.length === 0) break;
    for (const grant of claimed) {
      const subject = byKind.get(grant.job_kind);
      const told = grants.get(grant.job_kind);
      if (!subject || !told) continue;
      told.push(grant.max_attempts);
      await end(session, grant, endingOfRun(subject, told.length));
    }
    await shiftWithin(session, LEASE_SECONDS + 1);
    await session.query('select public.fn_job_lease_reaper()');
    for (const { kind, lowered } of subjects) {
      if (lowered && grants.get(kind)?.length === lowered.after) {
        await setMaximum(session, kind, lowered.to);
      }
    }
    await shiftWithin(session, DELAY_SECONDS);
  }
  return grants;
}

type Grant = { job_id: string; lease_token: string; job_kind: string; max_attempts: number };

async function claimAll(session: Session, kinds: readonly string[]): Promise<Grant[]> {
  return session.query<Grant>(
    `select c.job_id, c.lease_token, c.job_kind, c.max_attempts
       from public.fn_job_claim_batch($1, null, 'worker', $2, 1000) c`,
    [kinds, LEASE_SECONDS],
  );
}

const calls: Readonly<Record<Exclude<Ending, 'crash'>, string>> = {
  succeed: 'select public.fn_job_succeed($1, $2)',
  fail_transient: `select public.fn_job_fail_transient($1, $2, 'E_TRANSIENT', 'it failed')`,
  fail_permanent: `select public.fn_job_fail_permanent($1, $2, 'E_PERMANENT', 'it failed')`,
};

async function end(session: Session, grant: Grant, ending: Ending): Promise<void> {
  if (ending === 'crash') return;
  await session.query(calls[ending], [grant.job_id, grant.lease_token]);
}

async function setMaximum(session: Session, kind: string, maximum: number): Promise<void> {
  await configure(session, { [`queue.retry.max_attempts.${kind}`]: String(maximum) });
}

async function cellsOf(
  session: Session,
  subjects: readonly Subject[],
  grants: Grants,
  file: RunsFile,
): Promise<Cell[]> {
  const rows = await session.query<{ kind: string; left: { status: string } }>(
    `select q.job_kind as kind,
            jsonb_build_object('status', q.status, 'attempts', q.attempts, 'dead_letters', coalesce((
              select jsonb_agg(jsonb_build_object('failure_code', d.failure_code, 'attempts', d.attempts))
                from public.job_dead_letter d
               where d.job_id = q.job_id), '[]')) as left
       from public.job_queue q
      where q.job_kind = any ($1)`,
    [subjects.map(({ kind }) => kind)],
  );
  const left = new Map(rows.map((row) => [row.kind, row.left]));
  return subjects.map((subject) => {
    const told = grants.get(subject.kind) ?? [];
    return {
      name: `${subject.name}: ${subject.runs} ${subject.runs === 1 ? 'run' : 'runs'}`,
      expected: expectationOf(subject, file),
      seen: {
        runs: told.length,
        told,
        ...(left.get(subject.kind) as Record<string, Json> | undefined),
      },
    };
  });
}

/** A planted row that has used up its attempts is taken like any other, and what is behind it too. */
async function ceilingCells(session: Session, { ceiling }: RunsFile): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const status of ceiling.status) {
    for (const attempts of ceiling.attempts) {
      for (const [how, sql] of Object.entries(ceiling.claims)) {
        await session.query('savepoint ceiling');
        const first = await drive(session, 'ceiling', ['enqueue']);
        const second = await drive(session, 'behind', ['enqueue']);
        await plantWithin(
          session,
          `update public.job_queue
              set attempts = ${attempts}, status = '${status}', claimable = ${status === 'queued'}, priority = 9
            where job_id = '${first.id}'`,
        );
        const rows = await session.query<{ job_id: string }>(sql);
        await session.query('rollback to savepoint ceiling');
        cells.push({
          name: `a row that is ${status} with ${attempts} attempts stops no claim (${how})`,
          expected: ['the row', 'the one behind it'],
          seen: rows.map(({ job_id: id }) =>
            id === first.id ? 'the row' : id === second.id ? 'the one behind it' : id,
          ),
        });
      }
    }
  }
  return cells;
}
