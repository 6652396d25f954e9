/**
 * Property `any-session` (§5.2, §11.5): whatever a caller does to its own session, every call answers
 * as in a session where nothing was done. Two kinds of doings: what counts when a function is first
 * called, such as objects named like the queue's or like PostgreSQL's own types, each in a session of
 * its own; and settings, in one session whose plans are forgotten between two lives. Each switch of
 * the planner is turned over alone, and then all sorts of settings together.
 */
import fc from 'fast-check';
import { CoverageError } from '../../errors.ts';
import type { Observation, Session } from '../../types.ts';
import { assertions, count, type Finding } from './findings.ts';
import type { Given } from './given.ts';
import { difference, perform, type Told } from './lifecycle.ts';
import type { AnySessionFile } from './schema.ts';
import { search, type Problem } from './search.ts';
import { textLiteral } from './sql_text.ts';
import { build } from './stage.ts';

const SAME = 'every call answers as in a session where nothing was done';
const OWNER = 'nothing of the caller runs as anybody else';

type Setting = readonly [name: string, value: string];
type Doing = AnySessionFile['doings'][number];

export async function* anySession({
  data,
  sandbox,
  run,
}: Given<AnySessionFile>): AsyncGenerator<Observation> {
  await using world = await sandbox.session('the world');
  await build(world, data.setup);
  await using session = await sandbox.session('any session');
  // Costs without measure would have a server with a compiler compile every statement, for minutes.
  await session.query('set jit = off');
  const calm = await lifeWith([], session, data);
  refuseFailing(calm);
  const findings: Finding[] = [];

  for (const doing of data.doings) {
    run.signal.throwIfAborted();
    run.progress(doing.name);
    await using caller = await sandbox.session('caller');
    findings.push(...(await findingsAfter(doing, caller, calm, data)));
  }

  const named = Object.entries(data.settings).flatMap(([name, values]) =>
    values.map((value): Setting => [name, value]),
  );
  const planner = data.planner ? await switches(session) : [];
  const found = await search(
    {
      hostile: planner.map((one) => [one]),
      sample: data.sample,
      random: fc
        .subarray([...named, ...planner.filter(([name]) => name !== 'jit')])
        .map((some) => [...new Map(some)]),
      runs: named.length === 0 ? 0 : data.runs,
      run,
    },
    async (settings) => {
      const differs = difference(calm, await lifeWith(settings, session, data));
      return differs && problemOf(setText(settings), differs);
    },
  );
  if (found.counterexample !== undefined) {
    const { value, problem } = found.counterexample;
    findings.push({ ...problem, sql: [setText(value), ...data.steps.map(({ sql }) => sql)] });
  }
  yield count('doings', data.doings.length);
  yield count('settings', named.length + planner.length);
  yield count('lives', found.tried + data.doings.length);
  yield* assertions([SAME, OWNER], findings, { setup: data.setup, seed: run.seed });
}

/** A calm life in which a step raises would make every session look alike. */
function refuseFailing(calm: readonly Told[]): void {
  const failing = calm.find(({ answer }) => answer.startsWith('SQLSTATE'));
  if (failing !== undefined)
    throw new CoverageError(`it fails where nothing was done: ${failing.sql}: ${failing.answer}`);
}

/** A life under settings; the plans of the life before are forgotten first. */
async function lifeWith(
  settings: readonly Setting[],
  session: Session,
  { steps }: AnySessionFile,
): Promise<Told[]> {
  await session.query('discard plans; begin');
  try {
    if (settings.length > 0) await session.query(setText(settings));
    return await perform(session, steps);
  } finally {
    await session.query('rollback');
  }
}

/** A life after the caller's doings. Its code says in `kit.seen` as whom it was run. */
async function findingsAfter(
  { name, as, before }: Doing,
  caller: Session,
  calm: readonly Told[],
  { steps }: AnySessionFile,
): Promise<Finding[]> {
  await caller.query(`begin; set local role ${as}`);
  await caller.query(before);
  await caller.query("select pg_catalog.set_config('kit.seen', '', false)");
  const life = await perform(caller, steps);
  const [row] = await caller.query<{ seen: string | null }>(
    "select pg_catalog.current_setting('kit.seen', true) as seen",
  );
  const ranAs = new Set((row?.seen ?? '').split(' ').filter((role) => role !== '' && role !== as));
  const differs = difference(calm, life);
  const sql = [before, ...steps.map((step) => step.sql)];
  return [
    ...(differs === undefined ? [] : [{ ...problemOf(name, differs), sql }]),
    ...(ranAs.size === 0
      ? []
      : [
          {
            breaks: OWNER,
            expected: `as ${as} only`,
            seen: `${name}: code of the caller ran as ${[...ranAs].join(', ')}`,
            sql,
          },
        ]),
  ];
}

function problemOf(
  doing: string,
  { sql, expected, seen }: { sql: string; expected: string; seen: string },
): Problem {
  return { breaks: SAME, expected, seen: `${seen}, after ${doing}, to ${sql}` };
}

function setText(settings: readonly Setting[]): string {
  return settings
    .map(([name, value]) => {
      const pair = `${textLiteral(name)}, ${textLiteral(value)}`;
      return `select pg_catalog.set_config(${pair}, true);`;
    })
    .join(' ');
}

/** Every switch of the planner that this server has, turned over. */
async function switches(session: Session): Promise<Setting[]> {
  const rows = await session.query<{ name: string; value: string }>(`
    select s.name, case s.setting when 'on' then 'off' else 'on' end as value
      from pg_catalog.pg_settings s
     where s.context = 'user'
       and s.vartype = 'bool'
       and s.category like 'Query Tuning%'
     order by s.name`);
  return rows.map(({ name, value }): Setting => [name, value]);
}
