/** One order as lines that a person can follow. Pure. */
import { show } from './answer.ts';
import type { Move } from './play.ts';
import type { Order } from './order.ts';
import type { Json, Variables } from './variables.ts';

const WIDTH = 160;

/**
 * Each move on a line of its own: number, session, step, then its answer or whom it waits for. A
 * move that waited gets a second, unnumbered line where it ended. Ids are shown by the names of the
 * variables that hold them.
 */
export function traceOf(order: Order): string[] {
  const { moves, variables } = order;
  const names = nameShown(variables);
  const who = Math.max(...moves.map((move) => move.who.length), 0);
  const what = Math.max(...moves.map((move) => move.label.length), 0);
  const line = (mark: string, move: Move, text: string): string =>
    cut(
      `${mark.padStart(3)} ${move.who.padEnd(who)}  ${move.label.padEnd(what)}  ${text}`.trimEnd(),
    );
  const answer = (move: Move): string => (move.answer ? names(show(move.answer)) : '');
  const lines = moves.flatMap((move, index) => {
    const waits = move.waitedFor.length > 0;
    const first = waits ? `waits for ${move.waitedFor.join(' and ')}` : answer(move);
    const ended = moves.filter(
      (other) => other.waitedFor.length > 0 && other.endedDuring === index,
    );
    return [
      line(`${index + 1}`, move, first),
      ...ended.map((other) => line('→', other, answer(other))),
    ];
  });
  return [
    ...lines,
    ...order.stuck.map((name) => `  ! ${name} waits, and nobody is left to let it go`),
  ];
}

/** Who was chosen at each fork: what `orders:` takes to run this very order again. */
export function replayOf({ forks }: Order): string {
  return forks.map(({ chosen }) => chosen).join(' ');
}

/** Ids become the names of the variables that hold them; those that nobody named are cut short. */
export function nameShown(variables: Variables): (text: string) => string {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'string' && value.length === 36 && !names.has(value))
      names.set(value, name);
  }
  return (text) =>
    text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) =>
      names.has(id) ? `:${names.get(id) ?? ''}` : `${id.slice(0, 8)}…`,
    );
}

/** A JSON value on one line. */
export function showJson(value: Json | undefined): string {
  return value === undefined ? 'nothing' : cut(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length <= WIDTH ? text : `${text.slice(0, WIDTH - 1)}…`;
}
