import { expect, test } from 'vitest';
import { play, type Performer, type Stage } from './play.ts';

/** A performer with one move, which ends when it is told to. */
function once(name: string, over: Promise<void>): Performer {
  let done = false;
  return {
    name,
    upcoming: () => (done ? undefined : { step: name, label: name, skips: false, alone: false }),
    async move() {
      done = true;
      await over;
      return { answer: { is: 'value', value: name } };
    },
  };
}

function gate(): { over: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { over, open };
}

test('a wait that ended while the server was being asked is not taken for one that lasts', async () => {
  const a = gate();
  const b = gate();
  let asked = 0;
  const stage: Stage = {
    watch: {
      async waiting(names) {
        asked += 1;
        if (!names.includes('b')) {
          if (asked > 2) a.open();
          return asked === 1 ? new Map([['a', ['b']]]) : new Map();
        }
        // The server saw a wait for b; on the way back b ends.
        b.open();
        await b.over;
        await Promise.resolve();
        return new Map([['a', ['b']]]);
      },
      cancel: () => Promise.resolve(),
    },
    choose: (enabled) => enabled[0] ?? '',
    limitMs: 5000,
    signal: new AbortController().signal,
  };
  const played = await play([once('a', a.over), once('b', b.over)], stage);
  expect(played.stuck).toEqual([]);
  expect(played.moves.map(({ who, endedDuring }) => [who, endedDuring])).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
});

test('a move that neither ends nor waits is an error once its limit has passed', async () => {
  const never = gate();
  const stage: Stage = {
    watch: {
      waiting: () => Promise.resolve(new Map()),
      cancel: () => {
        never.open();
        return Promise.resolve();
      },
    },
    choose: (enabled) => enabled[0] ?? '',
    limitMs: 20,
    signal: new AbortController().signal,
  };
  await expect(play([once('a', never.over)], stage)).rejects.toThrow(
    /had neither ended nor come to wait for another session/,
  );
});

test('an abort ends an order and cancels what still runs', async () => {
  const running = gate();
  const stop = new AbortController();
  let cancelled: readonly string[] = [];
  const stage: Stage = {
    watch: {
      waiting: () => Promise.resolve(new Map()),
      cancel: (names) => {
        cancelled = names;
        running.open();
        return Promise.resolve();
      },
    },
    choose: (enabled) => enabled[0] ?? '',
    limitMs: 5000,
    signal: stop.signal,
  };
  const playing = play([once('a', running.over)], stage);
  stop.abort(new Error('told to stop'));
  await expect(playing).rejects.toThrow('told to stop');
  expect(cancelled).toEqual(['a']);
});
