import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digest } from '../digest.ts';
import type { HistoryEvent } from '../events.ts';
import { simulate } from '../simulate/run.ts';
import { sealed } from '../simulate/script.ts';
import { judgeDigest } from './index.ts';
import { unlogged } from './told.ts';

const shape = fc.record({
  seed: fc.integer(),
  jobs: fc.integer({ min: 1, max: 60 }),
  claimers: fc.integer({ min: 1, max: 6 }),
  trouble: fc.constantFrom(0, 0.02, 0.15),
});

/** What the judges say against a history, the recording's own faults first. */
function objections(events: Iterable<HistoryEvent>): string[] {
  const read = digest(events);
  const faults = judgeDigest(read).flatMap((finding) => finding.faults.map(({ says }) => says));
  return [...read.malformed, ...faults];
}

test('no judge finds a fault in any valid history, whatever was lost, killed or reaped', () => {
  fc.assert(
    fc.property(shape, (wanted) => {
      expect(objections(simulate(wanted))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('no judge invents a fault when the log of row changes is missing', () => {
  fc.assert(
    fc.property(shape, (wanted) => {
      expect(objections(unlogged([...simulate(wanted)]))).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

/** Lines that say something no other line says; a process's death is not such a line. */
const telling: ReadonlySet<string> = new Set([
  'invoke',
  'ok',
  'fail',
  'info',
  'audit',
  'row',
  'sweep',
]);

test('a dropped line is noticed, and so is one that stands twice', () => {
  const corrupted = fc.tuple(shape, fc.nat(), fc.boolean());
  fc.assert(
    fc.property(corrupted, ([wanted, at, twice]) => {
      const events = [...simulate(wanted)];
      const lines = events.flatMap(({ is }, line) => (telling.has(is) ? [line] : []));
      const line = lines[at % lines.length] ?? 1;
      const copies = twice ? events.slice(line, line + 1) : [];
      expect(objections(sealed(events.toSpliced(line, twice ? 0 : 1, ...copies)))).not.toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("two operations' lines that changed places are noticed", () => {
  fc.assert(
    fc.property(shape, fc.nat(), (wanted, at) => {
      const events = [...simulate(wanted)];
      const lines = events.flatMap((event, line) => {
        const next = events[line + 1];
        return 'ns' in event && next !== undefined && 'ns' in next && event.ns < next.ns
          ? [line]
          : [];
      });
      const line = lines[at % lines.length] ?? 1;
      const [first, second] = events.slice(line, line + 2) as [HistoryEvent, HistoryEvent];
      expect(objections(events.with(line, second).with(line + 1, first))).not.toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('the same history gives the same findings', () => {
  const wanted = { seed: 7, jobs: 50, claimers: 4, trouble: 0.1 };
  expect(judgeDigest(digest(simulate(wanted)))).toEqual(judgeDigest(digest(simulate(wanted))));
});
