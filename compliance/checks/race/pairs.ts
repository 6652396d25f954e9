/**
 * Every pair of functions that write, on one row. Which functions there are, the catalog says; how to
 * call each, `selftest/races/pairs.yaml`. Making the scenarios is pure.
 */
import { z } from 'zod';
import { CoverageError } from '../../errors.ts';
import { refuseProblems, type Problem } from '../../manifest/problem.ts';
import type { Source } from '../../manifest/source.ts';
import { didYouMean } from '../../manifest/suggest.ts';
import type { Session } from '../../types.ts';
import { known } from './known.ts';
import { parsed, setupStepOf, sourceOf } from './load.ts';
import type { Ending, Scenario, SessionPlan, SetupStep } from './scenario.ts';
import { setupStep } from './schema.ts';
import { variablesIn, type Variables } from './variables.ts';

const manner = {
  title: z.string().min(1),
  /** How the first of the two ends its transaction; the second commits, or has none either. */
  endings: z.array(z.enum(['commit', 'rollback', 'none'])).default(['commit']),
  /** The orders to run, as the sessions a and b move; every order where unset. */
  orders: z
    .array(z.string().regex(/^[ab]( [ab])*$/, 'an order is written "a b a"'))
    .min(1)
    .optional(),
  cap: z.int().positive().default(1000),
  preemptions: z.int().nonnegative().optional(),
  limit_ms: z.int().positive().default(10_000),
};

const pairsFile = z.strictObject({
  ...manner,
  clock: z.enum(['real', 'steered']).default('real'),
  fixtures: z.record(z.string(), z.array(setupStep).min(1)),
  recipes: z.record(
    z.string(),
    z.strictObject({ on: z.array(z.string()).min(1), call: z.string().min(1) }),
  ),
});

/** The fixtures and recipes of another file, run in another manner. */
const variationFile = z.strictObject({ ...manner, same_as: z.string().min(1) });

type Recipe = { name: string; on: readonly string[]; call: string; at: Scenario['at'] };

/** What is needed to make the scenario of any pair. */
export type Recipes = {
  recipes: readonly Recipe[];
  fixtures: ReadonlyMap<string, readonly SetupStep[]>;
  endings: readonly Ending[];
  /** What every scenario of the file has in common. */
  common: Omit<Scenario, 'case' | 'setup' | 'sessions' | 'assertions'>;
};

/** Whether a source holds recipes and not one scenario. */
export function holdsRecipes({ data }: Source): boolean {
  return typeof data === 'object' && data !== null && ('recipes' in data || 'same_as' in data);
}

/** Follows `same_as` to the file that holds the recipes. @throws KitError 65 */
export async function loadRecipes(source: Source, root: string): Promise<Recipes> {
  const { data } = source;
  if (typeof data !== 'object' || data === null || !('same_as' in data)) return recipesOf(source);
  const variation = parsed(variationFile, source);
  const { recipes, fixtures, common } = recipesOf(await sourceOf(variation.same_as, root));
  const { clock, variables } = common;
  const own = { ...commonOf(variation, source), clock, variables };
  return { recipes, fixtures, endings: variation.endings, common: own };
}

/** @throws KitError 65 with every mistake in the file */
export function recipesOf(source: Source): Recipes {
  const file = parsed(pairsFile, source);
  const variables = unsetVariables(file);
  refuseProblems(recipeProblems(file, source, variables));
  return {
    endings: file.endings,
    recipes: Object.entries(file.recipes).map(([name, { on, call }]) => {
      return { name, on, call, at: source.at(['recipes', name, 'call']) };
    }),
    fixtures: new Map(
      Object.entries(file.fixtures).map(([name, steps]) => [
        name,
        steps.map((step, index) => setupStepOf(step, source, ['fixtures', name, index, 'sql'], {})),
      ]),
    ),
    common: { ...commonOf(file, source), clock: file.clock, variables },
  };
}

/** What a file says of the manner in which its pairs are run. */
function commonOf(
  { title, orders, cap, preemptions, limit_ms: limitMs }: Manner,
  source: Source,
): Omit<Recipes['common'], 'clock' | 'variables'> {
  return {
    title,
    at: source.at([]),
    cap,
    limitMs,
    ...(preemptions === undefined ? {} : { preemptions }),
    ...(orders === undefined ? {} : { orders: orders.map((order) => order.split(' ')) }),
  };
}

type Manner = Pick<PairsFile, keyof typeof manner>;
type PairsFile = z.infer<typeof pairsFile>;

/** Every variable that some fixture captures, without a value: a call may name it on any fixture. */
function unsetVariables({ fixtures }: PairsFile): Variables {
  const names = Object.values(fixtures)
    .flat()
    .flatMap((step) => Object.keys('capture' in step ? (step.capture ?? {}) : {}));
  return Object.fromEntries(names.map((name) => [name, null]));
}

function recipeProblems(file: PairsFile, source: Source, variables: Variables): Problem[] {
  const fixtures = Object.keys(file.fixtures);
  const captured = Object.keys(variables);
  return Object.entries(file.recipes).flatMap(([name, { on, call }]) => [
    ...on
      .filter((fixture) => !fixtures.includes(fixture))
      .map((fixture) => ({
        ...source.at(['recipes', name, 'on']),
        message: `unknown fixture "${fixture}"${didYouMean(fixture, fixtures)}`,
      })),
    ...variablesIn(call)
      .filter((variable) => !captured.includes(variable))
      .map((variable) => ({
        ...source.at(['recipes', name, 'call']),
        message: `no fixture captures :${variable}${didYouMean(variable, captured)}`,
      })),
  ]);
}

/** Names of the contract's functions that may write, as the catalog has them. */
export async function writingFunctions(session: Session): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    `select distinct p.proname as name
       from pg_catalog.pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and p.proname like 'fn\\_job\\_%'
        and p.prokind = 'f'
        and p.provolatile = 'v'
      order by 1`,
  );
  return rows.map(({ name }) => name);
}

/**
 * The recipes of these functions.
 * @throws CoverageError when there is no such function, or one without a recipe
 */
export function recipesFor(
  functions: readonly string[],
  { recipes }: Recipes,
  file: string,
): Recipe[] {
  if (functions.length === 0)
    throw new CoverageError('the database has no function fn_job_* that writes');
  const without = functions.filter((name) => !recipes.some((recipe) => recipe.name === name));
  if (without.length > 0)
    throw new CoverageError(`${file}: no recipe for ${without.join(', ')}; add how to call it`);
  return recipes.filter(({ name }) => functions.includes(name));
}

/**
 * Every unordered pair, each function with itself included, on every fixture of either. Scenarios of
 * one fixture come one after another, so that it is set up once.
 */
export function pairsOf(some: readonly Recipe[], recipes: Recipes): Scenario[] {
  const pairs = some.flatMap((a, index) => some.slice(index).map((b) => [a, b] as const));
  return [...recipes.fixtures.keys()].flatMap((fixture) =>
    pairs
      .filter(([a, b]) => a.on.includes(fixture) || b.on.includes(fixture))
      .flatMap(([a, b]) => scenariosOf(a, b, fixture, recipes)),
  );
}

function scenariosOf(a: Recipe, b: Recipe, fixture: string, recipes: Recipes): Scenario[] {
  return recipes.endings.flatMap((ending) => {
    const one = scenario(a, b, fixture, ending, recipes);
    // Undone and kept are not the same the other way round.
    const twice = ending === 'rollback' && a !== b;
    return twice ? [one, scenario(b, a, fixture, ending, recipes)] : [one];
  });
}

function scenario(
  a: Recipe,
  b: Recipe,
  fixture: string,
  ending: Ending,
  { fixtures, common }: Recipes,
): Scenario {
  return {
    ...common,
    case: `${a.name} × ${b.name} on a job that is ${fixture}`,
    setup: known(fixtures.get(fixture), `the fixture ${fixture}`),
    sessions: [session('a', a, ending), session('b', b, ending === 'rollback' ? 'commit' : ending)],
    assertions: [],
  };
}

function session(name: 'a' | 'b', { name: called, call, at }: Recipe, ending: Ending): SessionPlan {
  const step = { name: `${name}:${called}`, sql: call, capture: {}, raises: [], at };
  return { name, transaction: ending, steps: [step] };
}
