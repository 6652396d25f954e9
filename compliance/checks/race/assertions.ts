/** What a scenario says about an order, held against what the order did. */
import { ask, contains, isList, show, type Answer } from './answer.ts';
import type { Order } from './order.ts';
import type { Assertion, Invariant, Scenario } from './scenario.ts';
import type { Theatre } from './theatre.ts';
import { showJson } from './trace.ts';
import type { Json } from './variables.ts';

/** How one order broke one assertion. */
export type Breach = { expected: string; seen: string };

/** Whether the assertion speaks of this order: its `when` steps began one after another. */
export function concerns({ when }: Assertion, { moves }: Order): boolean {
  const begun = when.map((step) => moves.findIndex((move) => move.step === step));
  return begun.every((at, index) => at >= 0 && (index === 0 || at > (begun[index - 1] ?? -1)));
}

/** Checks one assertion right after its order; SQL still sees the state that the order left. */
export async function check(
  assertion: Assertion,
  order: Order,
  { control }: Theatre,
): Promise<Breach | undefined> {
  switch (assertion.must) {
    case 'block':
    case 'not_block':
      return waitingBreach(assertion.must, assertion.steps, order);
    case 'answer':
      return answerBreach(assertion.answers, order);
    case 'be_true':
      return truthBreach(assertion.sql, await ask(control, assertion.sql, order.variables));
  }
}

function waitingBreach(
  must: 'block' | 'not_block',
  steps: readonly string[],
  { moves }: Order,
): Breach | undefined {
  for (const step of steps) {
    const waited = moves.find((move) => move.step === step && move.waitedFor.length > 0);
    if (must === 'not_block' && waited !== undefined)
      return {
        expected: `${step} does not wait`,
        seen: `it waits for ${waited.waitedFor.join(' and ')}`,
      };
    if (must === 'block' && waited === undefined)
      return { expected: `${step} waits`, seen: 'it does not wait' };
  }
  return undefined;
}

function answerBreach(
  answers: Readonly<Record<string, Json>>,
  { answers: seen, variables }: Order,
): Breach | undefined {
  for (const [step, wanted] of Object.entries(answers)) {
    const answer = seen.get(step);
    if (answer !== undefined && contains(asJson(answer), wanted, variables)) continue;
    return {
      expected: `${step} answers ${showJson(wanted)}`,
      seen: answer === undefined ? 'it never answered' : show(answer),
    };
  }
  return undefined;
}

/** An error stands beside answers as `{ error: <SQLSTATE> }` with the keys of its JSON detail. */
function asJson(answer: Answer): Json {
  if (answer.is === 'value') return answer.value;
  if (answer.is === 'skipped') return { skipped: true };
  const { detail } = answer;
  const more = detail === null || typeof detail !== 'object' || isList(detail) ? {} : detail;
  return { error: answer.code, ...more };
}

function truthBreach(sql: string, answer: Answer): Breach | undefined {
  const expected = `true from ${sql.trim().replaceAll(/\s+/g, ' ')}`;
  if (answer.is !== 'value') return { expected, seen: show(answer) };
  const rows = answer.value;
  const [row] = Array.isArray(rows) ? (rows as readonly Readonly<Record<string, Json>>[]) : [];
  const [value] = row === undefined ? [] : Object.values(row);
  return value === true ? undefined : { expected, seen: showJson(value) };
}

/** One query for all invariants: a row for each breach, with the invariant's place in the list. */
export function invariantsSql(invariants: readonly Invariant[]): string {
  return invariants
    .map(({ sql }, index) => `select ${index} as place, to_jsonb(r) as breach from (${sql}) r`)
    .join('\nunion all\n');
}

/** Checks the invariants; the first that has a row, with that row. */
export async function checkInvariants(
  invariants: readonly Invariant[],
  { control }: Theatre,
): Promise<Breach | undefined> {
  if (invariants.length === 0) return undefined;
  const { rows } = await control.client.query<{ place: number; breach: Json }>({
    name: 'dieu45_invariants',
    text: invariantsSql(invariants),
  });
  const first = rows.toSorted((a, b) => a.place - b.place)[0];
  if (first === undefined) return undefined;
  return { expected: invariants[first.place]?.name ?? '', seen: showJson(first.breach) };
}

/** A deadlock, an error that the scenario does not allow, or sessions that wait for nobody. */
export function mishap(
  { sessions }: Scenario,
  { stuck, deadlocked, answers }: Order,
): Breach | undefined {
  const expected = 'every step ends, without an error that the scenario does not allow';
  if (stuck.length > 0) return { expected, seen: `${stuck.join(' and ')} waits for ever` };
  if (deadlocked.length > 0) return { expected, seen: `a deadlock of ${deadlocked.join(' and ')}` };
  for (const { steps } of sessions) {
    for (const { name, raises } of steps) {
      const answer = answers.get(name);
      if (answer?.is !== 'error' || raises.includes(answer.code)) continue;
      return { expected, seen: `an error at ${name}: ${answer.code} ${answer.message}` };
    }
  }
  return undefined;
}
