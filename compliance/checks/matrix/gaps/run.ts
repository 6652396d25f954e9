/**
 * Runs a matrix of gaps: each case in a transaction of its own that is rolled back. A gap gives two or
 * three cells: not named too early, named as it should be, and named no more once it has ended.
 */
import { shiftWithin } from '../../../sandbox/shift.ts';
import type { Session } from '../../../types.ts';
import { assertionOf, type Cell } from '../cell.ts';
import { drive, filledIn, take, type Job } from '../job.ts';
import type { Json } from '../json.ts';
import type { Matrix } from '../matrix.ts';
import { flat, stepText } from '../steps.ts';
import { gapsFile, type Gap, type GapsFile } from './schema.ts';

/** How long before its time a gap must still be unnamed; a slow machine needs some of it. */
const EARLY_SECONDS = 20;

export const gaps: Matrix<typeof gapsFile> = {
  schema: gapsFile,
  async *run({ data, source }, sandbox, how) {
    await using session = await sandbox.session('matrix');
    await session.query(GAPS);
    const alone = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      how.signal.throwIfAborted();
      how.progress(name);
      await session.query('begin');
      try {
        return await work();
      } finally {
        await session.query('rollback');
      }
    };
    yield assertionOf(data.clause, await alone('healthy', () => healthyCell(session, data)));
    for (const [index, gap] of data.gaps.entries()) {
      const at = source.at(['gaps', index]);
      const cells = await alone(gap.says, () => gapCells(session, gap));
      for (const cell of cells) yield assertionOf(data.clause, { at, ...cell });
      yield { is: 'count', name: gap.reason, value: 1 };
    }
    for (const [index, state] of data.states.entries()) {
      const at = source.at(['states', index]);
      const cell = await alone(state.says, () => stateCell(session, state));
      yield assertionOf(data.clause, { at, ...cell });
    }
    for (const [index, one] of data.quiet.entries()) {
      const at = source.at(['quiet', index]);
      const cell = await alone(one.says, () => quietCell(session, one));
      yield assertionOf(data.clause, { at, ...cell });
    }
    yield assertionOf(data.clause, everyState(data));
  },
};

// The view, planned once: it is asked more than a hundred times.
const GAPS = `
  create function pg_temp.gaps()
  returns setof public.v_job_silent_gap
  language plpgsql
  as $gaps$
  begin
    return query select g.* from public.v_job_silent_gap g;
  end
  $gaps$`;

async function healthyCell(session: Session, { healthy }: GapsFile): Promise<Cell> {
  const trouble: string[] = [];
  for (const [name, steps] of Object.entries(healthy)) {
    trouble.push(...(await drive(session, name, flat(steps))).trouble);
  }
  // A template database grows old: one sweep, as in production.
  const sweep = await drive(session, 'sweep', ['reap']);
  const rows = await session.query<{ gap: Json }>(
    'select to_jsonb(g) as gap from pg_temp.gaps() g',
  );
  return {
    name: `a queue in which all is well (${Object.keys(healthy).join(', ')}) has no gap`,
    expected: { trouble: [], gaps: [] },
    seen: { trouble: [...trouble, ...sweep.trouble], gaps: rows.map(({ gap }) => gap) },
  };
}

async function gapCells(session: Session, gap: Gap): Promise<Cell[]> {
  const job = await drive(session, 'gap', flat(gap.steps));
  const trace = [...flat(gap.steps), ...flat(gap.then ?? [])].map(stepText);
  const cell = async (name: string, expected: Json): Promise<Cell> => {
    const seen = { trouble: [...job.trouble], gaps: await named(session, gap, job) };
    return {
      name: `${gap.reason}, ${gap.says}: ${name}`,
      expected: { trouble: [], gaps: expected },
      seen,
      trace,
    };
  };
  const cells: Cell[] = [];
  if (gap.then) {
    cells.push(await cell('not named before', []));
    for (const step of flat(gap.then)) await take(session, job, step);
  } else {
    await shiftWithin(session, (await secondsLeft(session, gap, job)) - EARLY_SECONDS);
    cells.push(await cell(`not named ${EARLY_SECONDS} seconds too early`, []));
    await shiftWithin(session, EARLY_SECONDS + 1);
  }
  const kind = gap.about === 'the job' && gap.kind === undefined ? job.kind : null;
  cells.push(
    await cell('named with what it is about, since and overdue', [
      { reason: gap.reason, job_kind: kind, status: gap.status, since: true, overdue: true },
    ]),
  );
  if (gap.ended_by) {
    for (const step of flat(gap.ended_by)) await take(session, job, step);
    cells.push(await cell(`ended by ${flat(gap.ended_by).map(stepText).join(', ')}`, []));
  }
  return cells;
}

/**
 * What the view says: of the job whatever there is, of the system this reason. Since and overdue are
 * compared in the same statement, so that no delay of ours is in them.
 */
async function named(session: Session, gap: Gap, job: Job): Promise<Json> {
  const since = sinceSql(gap, job, session);
  const [row] = await session.query<{ gaps: Json }>(
    `select coalesce(jsonb_agg(jsonb_build_object(
              'reason', g.reason,
              'job_kind', g.job_kind,
              'status', g.status,
              'since', g.since is not distinct from s.since,
              'overdue', case
                when s.since is null then g.overdue_seconds is null
                else abs(g.overdue_seconds
                         - extract(epoch from clock_timestamp() - s.since)::numeric + $3) < 1
              end)), '[]') as gaps
       from (select (${since})::timestamptz as since) s
       join pg_temp.gaps() g
         on case when $1 then g.job_id::text = $2 else g.job_id is null and g.reason = $4 end`,
    [gap.about === 'the job', job.id, gap.bound_seconds, gap.reason],
  );
  return row?.gaps ?? [];
}

function sinceSql({ since }: Gap, job: Job, session: Session): string {
  if (since === null) return 'null';
  if (typeof since === 'object') return filledIn(since.query, job, session);
  return `select q.${since} from public.job_queue q where q.job_id::text = ${session.client.escapeLiteral(job.id)}`;
}

async function secondsLeft(session: Session, gap: Gap, job: Job): Promise<number> {
  const [row] = await session.query<{ seconds: number }>(
    `select extract(epoch from (${sinceSql(gap, job, session)})::timestamptz - clock_timestamp())::float8
            + $1::float8 as seconds`,
    [gap.bound_seconds],
  );
  return row?.seconds ?? 0;
}

async function stateCell(session: Session, state: GapsFile['states'][number]): Promise<Cell> {
  const job = await drive(session, 'state', flat(state.steps));
  const [row] = await session.query<{ status: string }>(
    'select q.status from public.job_queue q where q.job_id::text = $1',
    [job.id],
  );
  await shiftWithin(session, state.within_seconds + 1);
  const reasons = await session.query<{ reason: string }>(
    'select g.reason from pg_temp.gaps() g where g.job_id::text = $1',
    [job.id],
  );
  return {
    name: `${state.says}: named at the latest after ${state.within_seconds} seconds in which nothing happens`,
    expected: { trouble: [], status: state.status, named: true },
    seen: { trouble: job.trouble, status: row?.status ?? null, named: reasons.length > 0 },
    trace: flat(state.steps).map(stepText),
  };
}

async function quietCell(session: Session, one: GapsFile['quiet'][number]): Promise<Cell> {
  const job = await drive(session, 'quiet', flat(one.steps));
  const rows = await session.query<{ reason: string }>(
    `select g.reason
       from pg_temp.gaps() g
      where case when $1::text is null then g.job_id::text = $2 else g.reason = $1 end`,
    [one.reason ?? null, job.id],
  );
  return {
    name: `${one.says}: no gap`,
    expected: { trouble: [], reasons: [] },
    seen: { trouble: job.trouble, reasons: rows.map(({ reason }) => reason) },
    trace: flat(one.steps).map(stepText),
  };
}

function everyState({ states }: GapsFile): Cell {
  const seen = new Set(states.map(({ status }) => status));
  const live = ['queued', 'leased', 'in_progress', 'retry_waiting'] as const;
  return {
    name: 'every state that is not over was left alone until it was named',
    expected: [],
    seen: live.filter((status) => !seen.has(status)),
  };
}
