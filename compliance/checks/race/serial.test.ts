import { expect, test } from 'vitest';
import type { Move, Played } from './play.ts';
import type { SessionPlan } from './scenario.ts';
import { operationsOf, serialOrders, spansOf, subsets } from './serial.ts';

const plan = (
  name: string,
  transaction: SessionPlan['transaction'],
  ...steps: string[]
): SessionPlan => ({
  name,
  transaction,
  steps: steps.map((step) => ({
    name: step,
    sql: '',
    capture: {},
    raises: [],
    at: { file: '', line: 1, col: 1 },
  })),
});
const sessions = [plan('a', 'commit', 'one', 'two'), plan('b', 'none', 'x', 'y')];

/** Moves by step; `x>3` began in its place and ended during move 3. */
function played(...steps: string[]): Played {
  const moves = steps.map((text, index): Move => {
    const [step = '', ended] = text.split('>');
    const endedDuring = ended === undefined ? index : Number(ended);
    return {
      who: '',
      step,
      label: step,
      answer: undefined,
      passed: [],
      waitedFor: [],
      endedDuring,
    };
  });
  return { moves, forks: [], stuck: [], deadlocked: [] };
}

test('a transaction is one operation, a step without one is its own', () => {
  expect(operationsOf(sessions)).toEqual([
    { session: 'a', steps: ['one', 'two', 'a.commit'] },
    { session: 'b', steps: ['x'] },
    { session: 'b', steps: ['y'] },
  ]);
});

const operations = operationsOf(sessions);
const cases: [order: string[], serial: string[]][] = [
  [['one', 'two', 'a.commit', 'x', 'y'], ['0 1 2']],
  [['x', 'y', 'one', 'two', 'a.commit'], ['1 2 0']],
  [
    ['one', 'x', 'two', 'a.commit', 'y'],
    ['0 1 2', '1 0 2'],
  ],
  [
    ['one', 'x', 'y', 'two', 'a.commit'],
    ['0 1 2', '1 0 2', '1 2 0'],
  ],
  [
    ['one', 'two', 'x>3', 'a.commit', 'y'],
    ['0 1 2', '1 0 2'],
  ],
  [['one', 'two', 'a.commit'], ['0']],
];

test.each(cases)('%j may equal the serial orders %j and no other', (order, serial) => {
  const orders = [...serialOrders(spansOf(operations, played(...order)))];
  expect(orders.map((one) => one.join(' ')).sort()).toEqual(serial);
});

test('subsets begin with none; of many rows only none and all are tried', () => {
  expect(subsets(['a', 'b'])).toEqual([[], ['a'], ['b'], ['a', 'b']]);
  expect(subsets([1, 2, 3, 4])).toEqual([[], [1, 2, 3, 4]]);
});
