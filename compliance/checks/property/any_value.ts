/**
 * Property `any-value` (§8.5): whatever an argument's type can hold, in every argument of every
 * public function, is answered by a coded refusal or the documented effect. The functions and their
 * arguments come from the catalog, so a new one is covered the day it is added, and its answer has
 * to be documented. The same calls, with good values, show that no change outlives a failing audit
 * (Điều 35).
 */
import fc from 'fast-check';
import { CoverageError } from '../../errors.ts';
import type { Observation, Session } from '../../types.ts';
import { loadAnswers, readAnswer, type Answers } from './answers.ts';
import {
  attempt,
  changes,
  prepareAttempts,
  rawError,
  type Attempt,
  type State,
} from './attempt.ts';
import { assertions, count, type Finding } from './findings.ts';
import { forClause, type Given } from './given.ts';
import type { AnyValueFile } from './schema.ts';
import { search, type Problem } from './search.ts';
import { callForAnswer, callText, publicFunctions, type Signature } from './signature.ts';
import { openStage, undone } from './stage.ts';
import { typed } from './sql_text.ts';
import { randomValue } from './values.ts';

const RAW = 'no call raises a raw error';
const ANSWER = 'every answer is a coded refusal or the documented effect';
const UNCHANGED = 'a refusal changes nothing but its own audit row';
const AUDITED = 'no change outlives the failing insert of its audit row';

type Tally = { calls: number; refusals: number; effects: number };

export async function* anyValue({
  data,
  task,
  sandbox,
  run,
}: Given<AnyValueFile>): AsyncGenerator<Observation> {
  await using session = await openStage(sandbox, 'any value', data.setup);
  const before = await prepareAttempts(session);
  const functions = await publicFunctions(session);
  const answers = await loadAnswers(run.root);
  const tally: Tally = { calls: 0, refusals: 0, effects: 0 };
  const findings: Finding[] = [];
  for (const fn of functions) {
    run.progress(fn.name);
    const judge = judgeOf(fn, { session, before, answers, tally });
    const found = await search(
      {
        hostile: oneByOne(fn, data),
        sample: data.sample && data.sample * fn.args.length,
        random: fc.tuple(...fn.args.map((arg) => anyOf(arg, data))),
        runs: fn.args.length === 0 ? 1 : data.runs,
        run,
      },
      judge,
    );
    if (found.counterexample === undefined) continue;
    const { value, problem } = found.counterexample;
    findings.push({ ...problem, seen: `${fn.name}: ${problem.seen}`, sql: [callText(fn, value)] });
  }
  const how = { setup: data.setup, seed: run.seed };
  yield* forClause('s8.5', task, [
    count('functions', functions.length),
    ...Object.entries(tally).map(([name, value]) => count(name, value)),
    ...assertions([RAW, ANSWER, UNCHANGED], findings, how),
  ]);
  const unaudited = await undone(session, () => withoutAudit(functions, { session, before, data }));
  yield* forClause('d35', task, [
    count('undone_calls', unaudited.undone),
    ...assertions([AUDITED], unaudited.findings, { ...how, setup: [...data.setup, NO_AUDIT] }),
  ]);
}

const NO_AUDIT = `
  create function kit.no_audit() returns trigger language plpgsql as $kit$
  begin
    raise exception 'no audit row can be written' using errcode = 'P0009';
  end
  $kit$;
  create trigger no_audit before insert on public.dot_iu_command_run
  for each row execute function kit.no_audit()`;

/** Calls every function with good values while the audit cannot be written: nothing may change. */
async function withoutAudit(
  functions: readonly Signature[],
  { session, before, data }: { session: Session; before: State; data: AnyValueFile },
): Promise<{ undone: number; findings: Finding[] }> {
  await session.query(NO_AUDIT);
  const findings: Finding[] = [];
  let undone = 0;
  for (const fn of functions.filter(({ name }) => !data.unaudited.includes(name))) {
    const values = fn.args.map(({ name, type }) => goodOf(name, type, data)[0] ?? 'null');
    const { state, raised } = await attempt(session, callForAnswer(fn, values));
    if (raised?.sqlstate === 'P0009') undone += 1;
    // A sweep's own record says when it ran; it is no transition.
    const changed = changes(before, state).filter((table) => table !== 'public.job_sweep');
    if (changed.length === 0) continue;
    findings.push({
      breaks: AUDITED,
      expected: 'nothing changed',
      seen: `${fn.name} changed ${changed.join(', ')}`,
      sql: [callText(fn, values)],
    });
  }
  return { undone, findings };
}

type Setting = {
  session: Session;
  before: State;
  answers: Answers;
  tally: Tally;
};

/** Calls the function with these values and says what is wrong with what came of it. */
function judgeOf(
  fn: Signature,
  { session, before, answers, tally }: Setting,
): (values: readonly string[]) => Promise<Problem | undefined> {
  return async (values) => {
    const seen = await attempt(session, callForAnswer(fn, values));
    tally.calls += 1;
    const raw = rawError(seen);
    if (raw !== undefined) {
      await refuseBadExpression(session, fn, values);
      return { breaks: RAW, expected: 'a coded refusal or the documented effect', seen: raw };
    }
    const { refusal, problem } = readAnswer(fn, seen, answers);
    tally[refusal === undefined ? 'effects' : 'refusals'] += 1;
    if (problem !== undefined)
      return { breaks: ANSWER, expected: 'what answers.yaml documents for it', seen: problem };
    return refusal && sideEffect(fn, seen, before, refusal.reason);
  };
}

function sideEffect(
  fn: Signature,
  { state, recorded, raised }: Attempt,
  before: State,
  reason: unknown,
): Problem | undefined {
  const changed = changes(before, state);
  const due = fn.volatile && raised === undefined ? [reason] : [];
  if (changed.length === 0 && JSON.stringify(recorded) === JSON.stringify(due)) return undefined;
  return {
    breaks: UNCHANGED,
    expected: `no table changed, and ${due.length} refusal in the audit`,
    seen:
      changed.length > 0
        ? `refused as ${String(reason)}, it changed ${changed.join(', ')}`
        : `refused as ${String(reason)}, it recorded [${recorded.join(', ')}]`,
  };
}

/** A value that is no value is this file's mistake, not the queue's. */
async function refuseBadExpression(
  session: Session,
  fn: Signature,
  values: readonly string[],
): Promise<void> {
  for (const [index, { type, name }] of fn.args.entries()) {
    const tried = await attempt(
      session,
      `select to_jsonb(${typed(values[index] ?? 'null', type)})`,
    );
    if (tried.raised !== undefined)
      throw new CoverageError(
        `${String(values[index])} is no value of ${name} (${type}): ${tried.raised.message}`,
      );
  }
}

function goodOf(name: string, type: string, { good, hostile }: AnyValueFile): readonly string[] {
  return good[name] ?? hostile[type] ?? ['null'];
}

/** Good values everywhere but in one argument, which takes each hostile value in turn. */
function oneByOne(fn: Signature, data: AnyValueFile): string[][] {
  const base = fn.args.map(({ name, type }) => goodOf(name, type, data)[0] ?? 'null');
  const tried = fn.args.flatMap(({ name, type }, index) =>
    [...new Set([...goodOf(name, type, data).slice(1), 'null', ...hostileOf(type, data)])].map(
      (value) => base.with(index, value),
    ),
  );
  return [base, ...tried];
}

function hostileOf(type: string, { hostile }: AnyValueFile): readonly string[] {
  const values = hostile[type];
  if (values === undefined)
    throw new CoverageError(`no hostile values of type ${type}: name them under "hostile"`);
  return values;
}

/** Shrinks toward the good value, so that a counterexample shows what matters in it. */
function anyOf(
  { name, type }: Signature['args'][number],
  data: AnyValueFile,
): fc.Arbitrary<string> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 4, arbitrary: fc.constantFrom(...goodOf(name, type, data)) },
    { weight: 1, arbitrary: fc.constant('null') },
    { weight: 2, arbitrary: fc.constantFrom(...hostileOf(type, data)) },
    { weight: 3, arbitrary: randomValue(type) },
  );
}
