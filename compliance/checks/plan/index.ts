/**
 * The check kind `plan`: what a call costs beside a seeded volume of rows that it must not touch
 * (clauses.md, dp3.5). Judges buffers and scan counters, never time. An EXPLAIN of a function call hides
 * its inner plans, but its buffers and the table's counters cannot.
 */
import type { Observation, RunCheck, Session } from '../../types.ts';
import { readDataFile } from '../data_file.ts';
import { publicFunctions } from '../property/signature.ts';
import { type PlanFile, planFile } from './schema.ts';

/** Rows an insert: a statement of its own, so that progress can be told. */
const STEP_ROWS = 50_000;

/** @throws KitError 65 for mistakes in the file. */
export const run: RunCheck = async function* (task, sandbox, how) {
  const { data: file } = await readDataFile(planFile, task.file, how.root);
  const proving = (what: 'buffers' | 'scans') =>
    task.specs.filter(({ params }) => params.proves === what);
  const rows = Math.max(file.rows, ...task.specs.map(({ params }) => Number(params.rows ?? 0)));
  const flat = proving('buffers').length > 0;
  await using session = await sandbox.session('plan');
  await session.query(file.setup);

  const before = flat ? await measured(session, file, file.small) : undefined;
  await seed(session, file, flat ? file.small + 1 : 1, rows, (done) => {
    how.progress(`${done} of ${rows} rows of each sort`);
  });
  await session.query(`vacuum analyze ${file.table}`);
  yield { is: 'count', name: 'rows', value: rows * Object.keys(file.volume).length };
  yield { is: 'count', name: 'calls', value: file.warm };
  // The buffers first: what the scans work on stays.
  if (before !== undefined) {
    const after = await buffersOf(session, file);
    for (const { id } of proving('buffers'))
      for (const [name, few] of before)
        for (const one of flatness(file, name, few, after.get(name) ?? Infinity))
          yield { ...one, check: id };
  }
  for (const { id } of proving('scans')) {
    await session.query(file.scans.setup);
    for await (const one of groundwork(session, file)) yield { ...one, check: id };
    for (const mode of ['auto', 'force_generic_plan'])
      for await (const one of scans(session, file, mode)) yield { ...one, check: id };
  }
};

/** Seeds few rows of every sort and measures the calls. */
async function measured(
  session: Session,
  file: PlanFile,
  few: number,
): Promise<Map<string, number>> {
  await seed(session, file, 1, few, () => undefined);
  await session.query(`vacuum analyze ${file.table}`);
  return buffersOf(session, file);
}

async function seed(
  session: Session,
  { volume }: PlanFile,
  from: number,
  to: number,
  progress: (done: number) => void,
): Promise<void> {
  for (let first = from; first <= to; first += STEP_ROWS) {
    const last = Math.min(to, first + STEP_ROWS - 1);
    for (const statement of Object.values(volume)) await session.query(statement, [first, last]);
    progress(last);
  }
}

/** Buffers (hit and read) of each call, after warm calls; each is rolled back. */
async function buffersOf(session: Session, file: PlanFile): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const [name, call] of Object.entries(file.buffers.calls)) {
    for (let turn = 0; turn < file.warm; turn++) await undone(session, call);
    const [row] = await undone<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
      session,
      `explain (analyze, buffers, format json) ${call}`,
    );
    const plan = row?.['QUERY PLAN'][0]?.Plan ?? {};
    found.set(name, (plan['Shared Hit Blocks'] ?? NaN) + (plan['Shared Read Blocks'] ?? NaN));
  }
  return found;
}

function* flatness(
  { clause, buffers: { factor, slack } }: PlanFile,
  name: string,
  few: number,
  many: number,
): Generator<Observation> {
  const most = Math.ceil(few * factor) + slack;
  yield {
    is: 'measure',
    name: `${name}: buffers`,
    value: many,
    unit: 'buffers',
    bound: [0, most],
    uncertainty: 0,
  };
  yield {
    is: 'assertion',
    name: `${clause}: ${name} touches as many buffers beside the volume as beside few rows`,
    ok: many <= most,
    expected: `at most ${most} buffers (${few} beside few rows)`,
    seen: `${many} buffers`,
  };
}

/** Nothing is shown of a function that nobody calls, nor by an index that is not whole. */
async function* groundwork(session: Session, file: PlanFile): AsyncGenerator<Observation> {
  const called = new Set(Object.keys(file.scans.calls).map((name) => name.split(' ')[0]));
  const functions = await publicFunctions(session);
  const uncalled = functions.map(({ name }) => name).filter((name) => !called.has(name));
  yield {
    is: 'assertion',
    name: `${file.clause}: every public function is called`,
    ok: uncalled.length === 0,
    ...(uncalled.length > 0 && {
      expected: 'a call of each',
      seen: `none of ${uncalled.join(', ')}`,
    }),
  };
  const broken = await session.query<{ name: string }>(
    `select i.indexrelid::regclass::text as name
       from pg_catalog.pg_index i
      where i.indrelid = $1::regclass and not (i.indisvalid and i.indisready and i.indislive)`,
    [file.table],
  );
  yield {
    is: 'assertion',
    name: `${file.clause}: every index of ${file.table} is valid`,
    ok: broken.length === 0,
    ...(broken.length > 0 && { seen: broken.map(({ name }) => name).join(', ') }),
  };
}

/** Calls each statement so often in one session that its plan is settled, and reads the scan counter. */
async function* scans(session: Session, file: PlanFile, mode: string): AsyncGenerator<Observation> {
  await session.query(`set plan_cache_mode = ${mode}`);
  for (const [name, call] of Object.entries(file.scans.calls)) {
    await session.query('begin');
    try {
      const started = await scanCount(session, file.table);
      for (let turn = 0; turn < file.warm; turn++) await session.query(call);
      const scanned = (await scanCount(session, file.table)) - started;
      yield {
        is: 'assertion',
        name: `${file.clause}: ${name}, ${file.warm} calls, plan_cache_mode ${mode}: ${file.table} is never scanned`,
        ok: scanned === 0,
        expected: '0 sequential scans',
        seen: `${scanned} sequential scans`,
      };
    } finally {
      await session.query('rollback');
    }
  }
}

/** Sequential scans of this transaction: nobody else's are in it. */
async function scanCount(session: Session, table: string): Promise<number> {
  const [row] = await session.query<{ scans: string }>(
    `select seq_scan as scans from pg_catalog.pg_stat_xact_all_tables where relid = $1::regclass`,
    [table],
  );
  return Number(row?.scans);
}

async function undone<Row extends Record<string, unknown>>(
  session: Session,
  sql: string,
): Promise<Row[]> {
  await session.query('begin');
  try {
    return await session.query<Row>(sql);
  } finally {
    await session.query('rollback');
  }
}
