/**
 * Property `poison` (§10.1): in every function that works on a set, a row that cannot be written is
 * left as it was and stops, undoes and starves no other, however often the call is repeated. Which
 * rows are poisoned, in which table, under which limit and over how many kinds is generated.
 */
import fc from 'fast-check';
import { messageOf } from '../../errors.ts';
import type { Observation, Session } from '../../types.ts';
import { assertions, count, type Finding } from './findings.ts';
import type { Given } from './given.ts';
import {
  callOf,
  isStopped,
  jobsOf,
  POISON,
  rowsOf,
  stage,
  stepsTo,
  works,
  written,
  type Case,
  type Row,
} from './poison_world.ts';
import type { PoisonFile } from './schema.ts';
import { search, type Problem } from './search.ts';
import { isObject, refuses } from './shape.ts';
import { openStage, undone } from './stage.ts';

const OTHERS = 'every other row is worked, up to the limit, in both of two calls';
const LEFT = 'a poisoned row is left as it was, and named where the answer names rows';

export async function* poison({
  data,
  sandbox,
  run,
}: Given<PoisonFile>): AsyncGenerator<Observation> {
  await using session = await openStage(sandbox, 'poison', POISON);
  const findings: Finding[] = [];
  for (const work of works) {
    run.progress(work);
    const found = await search<Case>(
      {
        hostile: data.first.flatMap((one) =>
          written[work].map((table) => ({ ...one, work, table })),
        ),
        sample: data.sample,
        random: fc.record({
          work: fc.constant(work),
          table: fc.constantFrom(...written[work]),
          poisoned: fc.array(fc.boolean(), { minLength: 1, maxLength: data.jobs }),
          limit: fc.integer({ min: 1, max: data.jobs + 1 }),
          kinds: fc.integer({ min: 1, max: 3 }),
        }),
        runs: data.runs,
        run,
      },
      (one) => undone(session, () => judged(session, one)),
    );
    yield count('cases', found.tried);
    if (found.counterexample === undefined) continue;
    const { value, problem } = found.counterexample;
    findings.push({
      ...problem,
      seen: `${work}, poisoned in ${value.table}: ${problem.seen}`,
      sql: [...stepsTo(value), callOf(value), callOf(value)],
    });
  }
  yield* assertions([OTHERS, LEFT], findings, { setup: POISON, seed: run.seed });
}

async function judged(session: Session, one: Case): Promise<Problem | undefined> {
  await stage(session, one);
  const stopped = new Set<string>();
  const free: string[] = [];
  for (const [index, job] of jobsOf(one).entries())
    if (isStopped(one, job, index)) stopped.add(job.key);
    else free.push(job.key);
  const before = await rowsOf(session);
  for (const round of [1, 2] as const) {
    let answer: unknown;
    try {
      const [row] = await session.query<{ answer: unknown }>(callOf(one));
      answer = row?.answer;
    } catch (error) {
      return { breaks: OTHERS, expected: 'an answer', seen: `a raw error: ${messageOf(error)}` };
    }
    const after = await rowsOf(session);
    const done = free.filter((key) => isWorked(one, before.get(key), after.get(key)));
    const due = one.work === 'enqueue' ? free : free.slice(0, round * one.limit);
    const problem =
      setProblem(done, due, one, `call ${round}`) ??
      leftProblem(one, before, after, stopped) ??
      answerProblem(one, answer, { round, free, stopped, after });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A claim may make rows claimable on its way; it has worked those that it leased. */
function isWorked({ work }: Case, before: Row | undefined, after: Row | undefined): boolean {
  return work.startsWith('claim') ? after?.status === 'leased' : before?.row !== after?.row;
}

/** A promoter's share by kind may choose among rows of one time; how many it works is exact. */
function setProblem(
  done: readonly string[],
  due: readonly string[],
  { work }: Case,
  at: string,
): Problem | undefined {
  const same = work === 'promote' ? done.length === due.length : done.join() === due.join();
  if (same) return undefined;
  return {
    breaks: OTHERS,
    expected: `${due.join(', ') || 'nothing'} worked after ${at}`,
    seen: `${done.join(', ') || 'nothing'} worked`,
  };
}

function leftProblem(
  { work }: Case,
  before: ReadonlyMap<string, Row>,
  after: ReadonlyMap<string, Row>,
  stopped: ReadonlySet<string>,
): Problem | undefined {
  for (const key of stopped) {
    const [was, is] = [before.get(key), after.get(key)];
    if (work === 'enqueue' ? is === undefined : JSON.stringify(was) === JSON.stringify(is))
      continue;
    return {
      breaks: LEFT,
      expected: was === undefined ? `no ${key}` : JSON.stringify(was),
      seen: JSON.stringify(is),
    };
  }
  return undefined;
}

type Round = {
  round: number;
  free: readonly string[];
  stopped: ReadonlySet<string>;
  after: ReadonlyMap<string, Row>;
};

/** What the answer says of rows: the results of a batch by place, the skipped of a reaper by id. */
function answerProblem(
  one: Case,
  answer: unknown,
  { round, free, stopped, after }: Round,
): Problem | undefined {
  const keyOf = new Map([...after.values()].map(({ job_id: id, key }) => [id, key]));
  if (one.work === 'enqueue') {
    const results = isObject(answer) && Array.isArray(answer.results) ? answer.results : [];
    const said = (results as unknown[]).map((result, index) =>
      refuses(result) ? String(result.reason) : createdText(result, keyOf, `job_${index}`),
    );
    const due = jobsOf(one).map(({ key }) =>
      stopped.has(key) ? 'item_failed' : `${key} created: ${round === 1}`,
    );
    if (said.join() === due.join()) return undefined;
    return { breaks: LEFT, expected: due.join(', '), seen: said.join(', ') };
  }
  if (one.work !== 'reap') return undefined;
  const skipped = isObject(answer) && Array.isArray(answer.skipped) ? answer.skipped : [];
  const named = (skipped as unknown[])
    .map((row) => (isObject(row) && row.sqlstate === 'P0007' ? keyOf.get(String(row.job_id)) : ''))
    .sort();
  // Once the limit is reached the reaper looks no further, so it may not have met them all.
  const met = free.length < round * one.limit;
  const good = met
    ? named.join() === [...stopped].sort().join()
    : named.every((key) => key !== undefined && stopped.has(key));
  if (good) return undefined;
  return {
    breaks: LEFT,
    expected: `${[...stopped].join(', ')} skipped, with SQLSTATE P0007`,
    seen: JSON.stringify(skipped),
  };
}

function createdText(result: unknown, keyOf: ReadonlyMap<string, string>, key: string): string {
  const { job_id: id, created } = isObject(result) ? result : {};
  return `${keyOf.get(String(id)) ?? `not ${key}`} created: ${String(created)}`;
}
