/**
 * Runs a matrix of health: each fixture alone, then all of them together, every figure of every view
 * and function exact; then each signal at its bound and beyond, and at the cap of its count. Each part
 * in a transaction that is rolled back.
 */
import { performance } from 'node:perf_hooks';
import type { Session } from '../../../types.ts';
import { assertionOf, type Cell } from '../cell.ts';
import { configure, drive } from '../job.ts';
import type { Json } from '../json.ts';
import type { Matrix } from '../matrix.ts';
import { flat, stepText } from '../steps.ts';
import * as expect from './expect.ts';
import { as, openFigures, readFigures, readSignals, type Figures, type Signal } from './read.ts';
import { healthFile, type HealthFile } from './schema.ts';

const CAP = 'queue.health.count_cap';

export const health: Matrix<typeof healthFile> = {
  schema: healthFile,
  async *run({ data, source }, sandbox, how) {
    await using session = await sandbox.session('matrix');
    await openFigures(session);
    const parts = [
      ...Object.keys(data.fixtures).map((name) => ({
        name,
        cells: () => tableCells(session, data, name),
      })),
      { name: 'all together', cells: () => tableCells(session, data) },
      { name: 'bounds and caps', cells: () => levelCells(session, data) },
    ];
    for (const { name, cells } of parts) {
      how.signal.throwIfAborted();
      how.progress(name);
      await session.query('begin');
      try {
        const at = source.atKey(['fixtures', name]);
        for (const cell of await cells()) yield assertionOf(data.clause, { at, ...cell });
      } finally {
        await session.query('rollback');
      }
    }
  },
};

/** Drives the rows after one sweep, which is what the age of the last one counts from. */
async function fill(
  session: Session,
  rows: readonly expect.Row[],
): Promise<{ trouble: string[]; began: number }> {
  const began = performance.now();
  const { trouble } = await drive(session, 'sweep', ['reap']);
  for (const { kind, fixture } of rows) {
    trouble.push(...(await drive(session, kind, flat(fixture.steps))).trouble);
  }
  return { trouble, began };
}

async function tableCells(session: Session, file: HealthFile, only?: string): Promise<Cell[]> {
  const rows = expect.rowsOf(file, only);
  const { trouble, began } = await fill(session, rows);
  const figures = await readFigures(session, file.reader);
  const slack = (performance.now() - began) / 1000 + 1;
  const whose = only ?? 'all fixtures together';
  const facts = await factCells(session, whose, file);
  const trace = only === undefined ? [] : flat(file.fixtures[only]?.steps ?? []).map(stepText);
  return [
    { name: `${whose}: the rows of the table come about`, expected: [], seen: trouble, trace },
    ...signalCells(whose, rows, file, figures, slack),
    ...facts,
    bucketCell(whose, file, figures),
    {
      name: `${whose}: fn_dead_letter_health`,
      expected: expect.deadLetterHealth(rows, slack),
      seen: figures.health,
      trace,
    },
    {
      name: `${whose}: v_job_retry_pressure`,
      expected: expect.pressure(rows),
      seen: figures.pressure,
      trace,
    },
    {
      name: `${whose}: v_lease_active`,
      expected: expect.leases(rows, slack),
      seen: figures.leases,
      trace,
    },
    {
      name: `${whose}: v_dead_letter_all`,
      expected: expect.letters(rows),
      seen: figures.letters,
      trace,
    },
    {
      name: `${whose}: v_queue_health has the documented signals and no other`,
      expected: Object.keys(file.signals).sort(),
      seen: Object.keys(figures.signals).sort(),
    },
  ];
}

function signalCells(
  whose: string,
  rows: readonly expect.Row[],
  file: HealthFile,
  { signals }: Figures,
  slack: number,
): Cell[] {
  return Object.keys(file.signals).flatMap((name) => {
    const expected = expect.signalExpectation(name, rows, file, slack);
    if (expected === undefined) return [];
    const value = signals[name]?.value;
    return [
      { name: `${whose}: ${name}`, expected, seen: value === undefined ? 'no such signal' : value },
    ];
  });
}

/** Facts are asked for in the statement that reads the signals: they may change from one to the next. */
async function factCells(session: Session, whose: string, file: HealthFile): Promise<Cell[]> {
  const facts = Object.entries(file.signals).filter(([, { is }]) => is === 'fact');
  const cases = facts.map(([name, { equals }]) => `when '${name}' then (${equals ?? 'null'})`);
  const rows = await as<{ signal: string; value: number | null; fact: number | null }>(
    session,
    file.reader,
    `select h.signal, h.value::float8 as value, (case h.signal ${cases.join(' ')} end)::float8 as fact
       from pg_temp.health() h`,
  );
  const found = new Map(rows.map((row) => [row.signal, row]));
  return facts.map(([name, { within }]) => {
    const { value, fact } = found.get(name) ?? { value: null, fact: null };
    return {
      name: `${whose}: ${name}`,
      // Without anything to compare, the signal must be without a value, too.
      expected: fact === null ? null : { between: [fact - within, fact + within] },
      seen: found.has(name) ? value : 'no such signal',
    };
  });
}

function bucketCell(whose: string, { buckets }: HealthFile, { signals, jobs }: Figures): Cell {
  return {
    name: `${whose}: every job is in exactly one of ${buckets.length} depths`,
    expected: jobs,
    seen: buckets.reduce((sum, name) => sum + (signals[name]?.value ?? 0), 0),
  };
}

/** Over all fixtures: each signal at its bound, just beyond it, and below, at and above the cap. */
async function levelCells(session: Session, file: HealthFile): Promise<Cell[]> {
  await fill(session, expect.rowsOf(file));
  const before = await readSignals(session, file.reader);
  const cells: Cell[] = [];
  const under = async (setting: Readonly<Record<string, string>>): Promise<Figures['signals']> => {
    await session.query('savepoint level');
    await configure(session, setting);
    const signals = await readSignals(session, file.reader);
    await session.query('rollback to savepoint level');
    return signals;
  };
  const add = (name: string, expected: Json, signal: Signal | undefined): void => {
    cells.push({ name, expected, seen: signal ?? 'no such signal' });
  };
  for (const [name, { is, bounded_by: bound, bound_as_shipped: shipped, capped }] of Object.entries(
    file.signals,
  )) {
    const value = before[name]?.value ?? 0;
    add(`${name} is bounded as shipped`, { bound: shipped }, before[name]);
    if (typeof bound === 'number') {
      add(
        `${name} beyond its bound of ${bound}`,
        { bound, level: value > bound ? 'alarm' : 'ok' },
        before[name],
      );
    } else if (bound !== null && is !== 'fact') {
      const at = is === 'age' ? Math.ceil(value) + 60 : value;
      const below = is === 'age' ? Math.max(1, Math.floor(value) - 1) : value - 1;
      add(
        `${name} within ${bound}`,
        { bound: at, level: 'ok' },
        (await under({ [bound]: String(at) }))[name],
      );
      add(
        `${name} beyond ${bound}`,
        { bound: below, level: 'alarm' },
        (await under({ [bound]: String(below) }))[name],
      );
    }
    if (!capped) continue;
    const free = typeof bound === 'string' ? { [bound]: '100000000' } : {};
    const level = typeof bound === 'number' ? 'alarm' : bound === null ? 'none' : 'ok';
    const stopped = typeof bound === 'number' ? 'alarm' : 'at_least';
    for (const [cap, says, expected] of [
      [value - 1, 'stops there', { value: value - 1, level: stopped }],
      [value, 'cannot tell whether there are more', { value, level: stopped }],
      [value + 1, 'is exact below it', { value, level }],
    ] as const) {
      add(
        `${name} under a cap of ${cap} ${says}`,
        expected,
        (await under({ ...free, [CAP]: String(cap) }))[name],
      );
    }
  }
  return cells;
}
