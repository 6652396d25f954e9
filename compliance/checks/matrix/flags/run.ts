/**
 * Runs a matrix of flags on one database with jobs in every state, in a transaction that is rolled
 * back: each call under each flag, each call again once the flag is lifted, and the redelivery of
 * what a worker could not say meanwhile.
 */
import { KitError } from '../../../errors.ts';
import type { Session } from '../../../types.ts';
import { assertionOf, countsOf, type Cell } from '../cell.ts';
import { configure, drive, take, type Job } from '../job.ts';
import type { Json } from '../json.ts';
import type { Matrix } from '../matrix.ts';
import { jsonWith, namesOf, sqlWith, type Names } from '../names.ts';
import { flat, stepText } from '../steps.ts';
import { auditText, openTrials, tryAll, type Outcome } from '../trial.ts';
import { expectationOf, phasesOf, unknownCalls, type FlagCell } from './expect.ts';
import { flagsFile, type FlagsFile } from './schema.ts';

export const flags: Matrix<typeof flagsFile> = {
  schema: flagsFile,
  async *run({ data, source }, sandbox, how) {
    const unknown = unknownCalls(data);
    if (unknown.length > 0)
      throw new KitError(65, `${source.file}: no such call: ${unknown.join(', ')}`);
    await using session = await sandbox.session('matrix');
    await openTrials(session);
    await session.query('begin');
    try {
      const jobs: Job[] = [];
      for (const [name, steps] of Object.entries(data.jobs)) {
        jobs.push(await drive(session, name, flat(steps)));
      }
      yield assertionOf(data.clause, {
        name: 'the jobs of this matrix come about',
        expected: [],
        seen: jobs.flatMap(({ trouble }) => trouble),
      });
      yield assertionOf(data.clause, await coverage(session, data));
      const names = namesOf(jobs);
      for (const [flag, { inert }] of Object.entries(data.flags)) {
        how.signal.throwIfAborted();
        how.progress(flag);
        const at = source.atKey(['flags', flag]);
        for (const phase of phasesOf(data, flag)) {
          const outcomes = await tryPhase(session, data, names, flag, phase);
          for (const [call, outcome] of outcomes) {
            const cell = cellFor({ flag, call, phase }, data, names, outcome);
            yield assertionOf(data.clause, { at, ...cell });
          }
        }
        yield* countsOf(Object.keys(inert).map(() => 'inert'));
      }
      for (const cell of await redelivery(session, data)) yield assertionOf(data.clause, cell);
    } finally {
      await session.query('rollback');
    }
  },
};

/** Every function of the contract is among the calls: a new one must say what a flag does to it. */
async function coverage(session: Session, { calls }: FlagsFile): Promise<Cell> {
  const found = await session.query<{ name: string }>(
    `select distinct p.proname::text as name
       from pg_catalog.pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and p.proname ~ '^fn_(job|dead_letter)_'
      order by 1`,
  );
  const asked = Object.values(calls)
    .map(({ query }) => query)
    .join('\n');
  return {
    name: 'every function of the queue is among the calls',
    expected: { missing: [], there: true },
    seen: {
      missing: found.map(({ name }) => name).filter((name) => !asked.includes(`${name}(`)),
      there: found.length > 0,
    },
  };
}

/**
 * Every call under the flag; or, in the phase after, once everything that the flag stops was called in
 * vain and the flag is lifted. Each call is undone by itself.
 */
async function tryPhase(
  session: Session,
  data: FlagsFile,
  names: Names,
  flag: string,
  phase: FlagCell['phase'],
): Promise<[call: string, outcome: Outcome][]> {
  const { setting = {}, inert = {} } = data.flags[flag] ?? {};
  const query = (name: string): string => sqlWith(names, data.calls[name]?.query ?? '');
  await session.query('savepoint phase');
  const before = await valuesOf(session, Object.keys(setting));
  await configure(session, setting);
  if (phase === 'after') {
    for (const call of Object.keys(inert)) await session.query(query(call));
    await configure(session, before);
  }
  const calls = Object.keys(data.calls);
  const outcomes = await tryAll(
    session,
    calls.map((call) => ({ call: query(call) })),
  );
  await session.query('rollback to savepoint phase');
  return calls.flatMap((call, index): [string, Outcome][] => {
    const outcome = outcomes[index];
    return outcome ? [[call, outcome]] : [];
  });
}

function cellFor(cell: FlagCell, data: FlagsFile, names: Names, outcome: Outcome): Cell {
  const { answer, error, changed, elsewhere, audit } = outcome;
  return {
    name: `${cell.phase === 'while' ? 'under' : 'after'} ${cell.flag}: ${cell.call}`,
    expected: jsonWith(names, expectationOf(data, cell)),
    seen: {
      answer: error ?? answer,
      moved: [...changed, ...elsewhere].length > 0,
      audit: audit.map(auditText),
    },
  };
}

/** A worker whose call was refused loses nothing: its job is delivered again (D16). */
async function redelivery(
  session: Session,
  { redelivery: plan, flags: all }: FlagsFile,
): Promise<Cell[]> {
  const setting = all[plan.flag]?.setting ?? {};
  const cells: Cell[] = [];
  for (const step of plan.refused) {
    await session.query('savepoint redelivery');
    const before = await valuesOf(session, Object.keys(setting));
    const job = await drive(session, 'redelivered', ['enqueue', 'claim']);
    await configure(session, setting);
    await take(session, job, step);
    const told = job.trouble.splice(0);
    await configure(session, before);
    for (const next of flat(plan.then)) await take(session, job, next);
    const [row] = await session.query<{ status: string; attempts: number }>(
      'select q.status, q.attempts from public.job_queue q where q.job_id::text = $1',
      [job.id],
    );
    await session.query('rollback to savepoint redelivery');
    cells.push({
      name: `after ${plan.flag}: a job whose ${stepText(step)} was refused is delivered again`,
      expected: { refused: 1, trouble: [], row: plan.ends },
      seen: { refused: told.length, trouble: job.trouble, row: (row ?? null) as Json },
    });
  }
  return cells;
}

async function valuesOf(
  session: Session,
  keys: readonly string[],
): Promise<Record<string, string>> {
  const rows = await session.query<{ key: string; value: string }>(
    'select c.key, c.value from public.dot_config c where c.key = any ($1)',
    [keys],
  );
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}
