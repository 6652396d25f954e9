import { expect, test } from 'vitest';
import { deadLetterHealth, leases, pressure, rowsOf, signalExpectation } from './expect.ts';
import { healthFile } from './schema.ts';

const count = { is: 'count', bound_as_shipped: null, bounded_by: null };
const file = healthFile.parse({
  matrix: 'health',
  clause: 'dp3.8',
  title: 'a test',
  reader: 'reader',
  signals: { depth: count, oldest: { ...count, is: 'age' }, fact: { ...count, is: 'fact' } },
  buckets: ['depth'],
  fixtures: {
    old: {
      steps: ['enqueue', { pass_seconds: 100 }],
      signals: { depth: 1, oldest: 100 },
      pressure: { waiting: 0, dead: 0, max_attempts_seen: 0 },
      letters: [
        {
          layer: 'job',
          event_type: ':kind',
          route_code: 'r',
          failure_code: 'E',
          attempts: 1,
          resolution: null,
        },
      ],
      oldest_open_seconds: 100,
    },
    young: {
      steps: ['enqueue', { pass_seconds: 10 }],
      times: 1,
      signals: { depth: 1, oldest: 10 },
      lease: { holder: 'w', left_seconds: 50 },
    },
    neither: { steps: [] },
  },
});

test('a fixture alone counts once, and nothing passes after it', () => {
  const rows = rowsOf(file, 'old');
  expect(signalExpectation('depth', rows, file, 2)).toBe(1);
  expect(signalExpectation('oldest', rows, file, 2)).toEqual({ between: [99, 102] });
  expect(signalExpectation('fact', rows, file, 2)).toBeUndefined();
});

test('together they add up, and time that passes for one passes for those before it', () => {
  const rows = rowsOf(file);
  expect(rows.map(({ kind, passedSince }) => [kind, passedSince])).toEqual([
    ['old_1', 110],
    ['old_2', 10],
    ['young_1', 0],
    ['neither_1', 0],
    ['neither_2', 0],
  ]);
  expect(signalExpectation('depth', rows, file, 0)).toBe(3);
  expect(signalExpectation('oldest', rows, file, 0)).toEqual({ between: [209, 210] });
  expect(deadLetterHealth(rows, 0)).toMatchObject({
    only: {
      open_count_job: 2,
      by_failure_code: { only: { E: 2 } },
      oldest_first_failed_at: { between: [209, 210] },
    },
  });
  expect(Object.keys((pressure(rows) as { only: object }).only)).toEqual(['old_1', 'old_2']);
  expect(leases(rows, 1)).toEqual({
    only: { young_1: { lease_holder: 'w', ttl_remaining: { between: [49, 51] } } },
  });
});

test('where no row has an age there is none', () => {
  expect(signalExpectation('oldest', rowsOf(file, 'neither'), file, 0)).toBeNull();
});
