/** What a schema cannot see: names that must be known, forms that exclude each other. Pure. */
import type { Problem } from '../../manifest/problem.ts';
import type { Path, Source } from '../../manifest/source.ts';
import { didYouMean } from '../../manifest/suggest.ts';
import type { ScenarioFile } from './schema.ts';
import { blanksIn, variablesIn } from './variables.ts';

const FORMS = ['must_block', 'must_not_block', 'answers', 'be_true'] as const;

/** Every mistake of meaning in a file whose form is right. */
export function meaningProblems(file: ScenarioFile, source: Source): Problem[] {
  return [
    ...stepProblems(file, source),
    ...assertionProblems(file, source),
    ...variableProblems(file, source),
    ...blankProblems(file, source),
    ...orderProblems(file, source),
  ];
}

/** Names of all steps, the endings of transactions included. */
function allSteps({ sessions }: ScenarioFile): string[] {
  return Object.entries(sessions).flatMap(([session, { transaction, steps }]) => [
    ...steps.map(({ name }) => name),
    ...(transaction === 'none' ? [] : [`${session}.${transaction}`]),
  ]);
}

function stepProblems(file: ScenarioFile, source: Source): Problem[] {
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const [session, { steps }] of Object.entries(file.sessions)) {
    for (const [index, step] of steps.entries()) {
      const at = source.at(['sessions', session, 'steps', index]);
      if (seen.has(step.name))
        problems.push({ ...at, message: `the step name "${step.name}" is repeated` });
      seen.add(step.name);
      if ((step.sql === undefined) === (step.advance_seconds === undefined))
        problems.push({ ...at, message: 'a step has either "sql" or "advance_seconds"' });
      if (step.advance_seconds !== undefined) problems.push(...unsteered(file, at));
    }
  }
  for (const [index, step] of file.setup.entries()) {
    if ('advance_seconds' in step) problems.push(...unsteered(file, source.at(['setup', index])));
  }
  return problems;
}

function unsteered({ clock }: ScenarioFile, at: Omit<Problem, 'message'>): Problem[] {
  if (clock === 'steered') return [];
  return [{ ...at, message: 'only a steered clock can be advanced; add "clock: steered"' }];
}

function assertionProblems(file: ScenarioFile, source: Source): Problem[] {
  const known = allSteps(file);
  return file.assertions.flatMap((one, index) => {
    const at = source.at(['assertions', index]);
    const forms = FORMS.filter((form) => one[form] !== undefined);
    const named = [
      ...one.when,
      ...(one.must_block ?? []),
      ...(one.must_not_block ?? []),
      ...Object.keys(one.answers ?? {}),
    ];
    return [
      ...(forms.length === 1
        ? []
        : [{ ...at, message: `an assertion has exactly one of ${FORMS.join(', ')}` }]),
      ...named
        .filter((step) => !known.includes(step))
        .map((step) => ({ ...at, message: `unknown step "${step}"${didYouMean(step, known)}` })),
    ];
  });
}

/** Every text with SQL in it, and where it stands. */
function sqlTexts(file: ScenarioFile): { sql: string; path: Path }[] {
  return [
    ...file.setup.map((step, i) => ({
      sql: 'sql' in step ? step.sql : '',
      path: ['setup', i, 'sql'],
    })),
    ...Object.entries(file.sessions).flatMap(([name, { steps }]) =>
      steps.map(({ sql = '' }, i) => ({ sql, path: ['sessions', name, 'steps', i, 'sql'] })),
    ),
    ...file.assertions.map(({ be_true: sql = '' }, i) => ({
      sql,
      path: ['assertions', i, 'be_true'],
    })),
    ...Object.entries(file.cases).flatMap(([name, texts]) =>
      Object.entries(texts).map(([key, sql]) => ({ sql, path: ['cases', name, key] })),
    ),
  ];
}

function variableProblems(file: ScenarioFile, source: Source): Problem[] {
  const captures = [
    ...file.setup.map((step) => ('capture' in step ? step.capture : undefined)),
    ...Object.values(file.sessions).flatMap(({ steps }) => steps.map(({ capture }) => capture)),
  ];
  const known = [
    ...Object.keys(file.variables),
    ...captures.flatMap((one) => Object.keys(one ?? {})),
  ];
  return sqlTexts(file).flatMap(({ sql, path }) =>
    variablesIn(sql)
      .filter((name) => !known.includes(name))
      .map((name) => ({
        ...source.at(path),
        message: `no step captures :${name}${didYouMean(name, known)}`,
      })),
  );
}

function blankProblems(file: ScenarioFile, source: Source): Problem[] {
  const cases = Object.entries(file.cases);
  return sqlTexts(file).flatMap(({ sql, path }) =>
    blanksIn(sql).flatMap((blank) => {
      const without = cases.filter(([, texts]) => !(blank in texts)).map(([name]) => name);
      if (cases.length > 0 && without.length === 0) return [];
      const which = cases.length === 0 ? 'there are no cases' : `missing in ${without.join(', ')}`;
      return [{ ...source.at(path), message: `{{${blank}}} has no text: ${which}` }];
    }),
  );
}

function orderProblems(file: ScenarioFile, source: Source): Problem[] {
  if (file.orders === 'all') return [];
  const known = Object.keys(file.sessions);
  return file.orders.flatMap((order, index) =>
    order
      .trim()
      .split(/\s+/)
      .filter((name) => !known.includes(name))
      .map((name) => ({
        ...source.at(['orders', index]),
        message: `unknown session "${name}"${didYouMean(name, known)}`,
      })),
  );
}
