/** Reads scenarios. Every mistake is said at its place, `file:line:col: message`, all at once. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { messageOf, KitError } from '../../errors.ts';
import { refuseProblems } from '../../manifest/problem.ts';
import { readSource, type Source } from '../../manifest/source.ts';
import { schemaProblems } from '../../manifest/zod_problems.ts';
import { meaningProblems } from './meaning.ts';
import type {
  Assertion,
  Invariant,
  Scenario,
  SessionPlan,
  SetupStep,
  Statement,
  Step,
} from './scenario.ts';
import { invariantsFile, scenarioFile, type ScenarioFile } from './schema.ts';
import { ADVANCE } from './steer.ts';
import { fillIn, type Json } from './variables.ts';
import { known } from './known.ts';

/** Reads one scenario file: one scenario a case. @throws KitError 65 with every mistake in it. */
export async function loadScenarios(file: string, root: string): Promise<Scenario[]> {
  const source = await sourceOf(file, root);
  return scenariosOf(source);
}

/** Reads the invariants that hold after every order. @throws KitError 65 with every mistake in them. */
export async function loadInvariants(file: string, root: string): Promise<Invariant[]> {
  const source = await sourceOf(file, root);
  const { invariants } = parsed(invariantsFile, source);
  return invariants.map((one, index) => ({ ...one, at: source.at(['invariants', index]) }));
}

export async function sourceOf(file: string, root: string): Promise<Source> {
  try {
    return readSource(await readFile(path.resolve(root, file), 'utf8'), file);
  } catch (error) {
    throw new KitError(65, `${file}: cannot be read: ${messageOf(error)}`);
  }
}

/** Holds a source against a schema. @throws KitError 65 */
export function parsed<S extends z.ZodType>(schema: S, source: Source): z.infer<S> {
  refuseProblems(source.problems.length > 0 ? source.problems : schemaProblems(schema, source));
  return schema.parse(source.data);
}

/** The scenarios of a source that was read. @throws KitError 65 */
export function scenariosOf(source: Source): Scenario[] {
  const file = parsed(scenarioFile, source);
  refuseProblems(meaningProblems(file, source));
  const cases = Object.entries(file.cases);
  if (cases.length === 0) return [scenarioOf(file, source, '', {})];
  return cases.map(([name, texts]) => scenarioOf(file, source, name, texts));
}

type Texts = Readonly<Record<string, string>>;

function scenarioOf(file: ScenarioFile, source: Source, name: string, texts: Texts): Scenario {
  const { title, clock, variables, cap, sample, preemptions, limit_ms: limitMs } = file;
  return {
    case: name,
    title: fillIn(title, texts),
    at: source.at([]),
    clock,
    variables,
    cap,
    limitMs,
    ...(sample === undefined ? {} : { sample: Math.min(sample, cap) }),
    ...(preemptions === undefined ? {} : { preemptions }),
    ...(file.orders === 'all'
      ? {}
      : { orders: file.orders.map((order) => order.trim().split(/\s+/)) }),
    setup: file.setup.map((_, index) => setupOf(file, source, index, texts)),
    sessions: Object.keys(file.sessions).map((session) => sessionOf(file, source, session, texts)),
    assertions: file.assertions.map((_, index) => assertionOf(file, source, index, texts)),
  };
}

function setupOf(file: ScenarioFile, source: Source, index: number, texts: Texts): SetupStep {
  const step = known(file.setup[index], 'the set-up step');
  return setupStepOf(step, source, ['setup', index, 'sql'], texts);
}

/** One step of a set-up; `where` is the path of its SQL. */
export function setupStepOf(
  step: ScenarioFile['setup'][number],
  source: Source,
  where: readonly (string | number)[],
  texts: Texts,
): SetupStep {
  if ('shift_seconds' in step) return { shiftSeconds: step.shift_seconds };
  if ('advance_seconds' in step) return { advanceSeconds: step.advance_seconds };
  return statement(step, source, where, texts);
}

function statement(
  { sql, capture = {} }: { sql: string; capture?: Texts | undefined },
  source: Source,
  where: readonly (string | number)[],
  texts: Texts,
): Statement {
  return { sql: fillIn(sql, texts), capture, at: source.at(where) };
}

function sessionOf(file: ScenarioFile, source: Source, name: string, texts: Texts): SessionPlan {
  const { role, transaction, steps } = known(file.sessions[name], 'the session');
  return {
    name,
    transaction,
    ...(role === undefined ? {} : { role }),
    steps: steps.map((step, index): Step => {
      const sql = step.sql ?? ADVANCE.replace(':seconds', String(step.advance_seconds));
      const where = ['sessions', name, 'steps', index];
      return {
        ...statement({ sql, capture: step.capture }, source, where, texts),
        name: step.name,
        raises: step.raises ?? [],
      };
    }),
  };
}

function assertionOf(file: ScenarioFile, source: Source, index: number, texts: Texts): Assertion {
  const one = known(file.assertions[index], 'the assertion');
  const common = {
    name: fillIn(one.name, texts),
    at: source.at(['assertions', index]),
    when: one.when,
    ...(one.check === undefined ? {} : { check: one.check }),
  };
  if (one.must_block) return { ...common, must: 'block', steps: one.must_block };
  if (one.must_not_block) return { ...common, must: 'not_block', steps: one.must_not_block };
  if (one.answers)
    return {
      ...common,
      must: 'answer',
      answers: filled(one.answers, texts) as Record<string, Json>,
    };
  return { ...common, must: 'be_true', sql: fillIn(one.be_true ?? '', texts) };
}

function filled(value: Json, texts: Texts): Json {
  if (typeof value === 'string') return fillIn(value, texts);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => filled(item, texts));
  return Object.fromEntries(Object.entries(value).map(([key, its]) => [key, filled(its, texts)]));
}
