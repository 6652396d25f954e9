/** A schedule as columns, one for each session, so that one sees who did what while whom. Pure. */
import { show } from '../race/answer.ts';
import type { Order } from '../race/order.ts';
import type { Move } from '../race/play.ts';
import { nameShown } from '../race/trace.ts';

const COLUMN = 52;

/** One line a move, and one more where it ended or had to wait; the session's name heads its column. */
export function sideBySide(order: Order): string[] {
  const actors = [...new Set(order.moves.map(({ who }) => who))];
  const names = nameShown(order.variables);
  const line = (mark: string, who: string, text: string): string => {
    const cells = actors.map((actor) => (actor === who ? cut(text) : '').padEnd(COLUMN));
    return `${mark.padStart(3)} ${cells.join(' │ ')}`.trimEnd();
  };
  const heading = `    ${actors.map((actor) => actor.padEnd(COLUMN)).join(' │ ')}`.trimEnd();
  const answer = ({ answer: its }: Move): string[] =>
    its === undefined ? [] : [`⇒ ${names(show(its))}`];
  const lines = order.moves.flatMap((move, index) => {
    const did = move.passed.length > 0 ? move.passed : [move.label];
    const waits = move.waitedFor.length > 0;
    const first = did.map((text, at) => line(at === 0 ? `${index + 1}` : '', move.who, text));
    const then = waits ? [`… waits for ${move.waitedFor.join(' and ')}`] : answer(move);
    const ended = order.moves.filter(
      (other) => other.waitedFor.length > 0 && other.endedDuring === index,
    );
    return [
      ...first,
      ...then.map((text) => line('', move.who, text)),
      ...ended.flatMap((other) => answer(other).map((text) => line('→', other.who, text))),
    ];
  });
  return [heading, ...lines];
}

function cut(text: string): string {
  return text.length <= COLUMN ? text : `${text.slice(0, COLUMN - 1)}…`;
}
