/**
 * Gates inside functions. A session that comes to a stop says so by a notice and waits for a lock that
 * the keeper holds. Each stop of a session waits for a lock with the next number, so the keeper can
 * take the next one before it lets go of this one: nobody ever runs through.
 */
import type { Session } from '../../types.ts';

export const MOST_ACTORS = 8;

/** One session as the keeper knows it. */
export type Gate = {
  /**
   * Before a call: at which stops it is to be held up; none of them means that it runs through.
   * Outside of a transaction only, or a rollback would take the setting back.
   */
  arm(stops: ReadonlySet<number>): Promise<void>;
  /** Lets the session go on from the stop at which it stands. */
  open(): Promise<void>;
  /** Resolves with the stop at which the session arrives next. Ask before letting it go. */
  arrival(): Promise<number>;
};

/** @param actor from 1 to MOST_ACTORS, a number of the session's own */
export async function makeGate(session: Session, keeper: Session, actor: number): Promise<Gate> {
  await session.query(`select set_config('dieu45.actor', $1, false)`, [String(actor)]);
  let armed = '';
  /** The last stop that the session has come to, and the lock that the keeper holds for it. */
  let turn = 0;
  let held = 0;
  let arrived: ((stop: number) => void) | undefined;
  session.client.on('notice', ({ message = '' }) => {
    const [, stop, number] = /^dieu45 stop (\d+) (\d+)$/.exec(message) ?? [];
    if (stop === undefined) return;
    turn = Number(number);
    arrived?.(Number(stop));
  });
  const hold = async (next: number): Promise<void> => {
    if (next === held) return;
    const key = 4545 + actor;
    // From left to right: the next one is taken before this one is let go.
    await keeper.query(
      'select pg_advisory_lock($1, $2), case when $3 > 0 then pg_advisory_unlock($1, $3) end',
      [key, next, held],
    );
    held = next;
  };
  return {
    async arm(stops) {
      // Whatever became of the call before, the next stop has the next number.
      if (stops.size > 0) await hold(turn + 1);
      const text = stops.size === 0 ? '' : `{${[...stops].join(',')}}`;
      if (text === armed) return;
      await session.query(`select set_config('dieu45.stops', $1, false)`, [text]);
      armed = text;
    },
    open: () => hold(turn + 1),
    arrival: () =>
      new Promise((resolve) => {
        arrived = resolve;
      }),
  };
}
