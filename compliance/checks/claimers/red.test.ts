/**
 * Each judge is seen red on a real server: with its fault planted in the SQL, a small load names it.
 * Faults that do not touch each other share a run, since each run starts processes of its own.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { judgeNames, type JudgeName } from '../../history/finding.ts';
import { judgeFile, type ShownFault } from '../../history/judge_file.ts';
import type { Server } from '../../types.ts';
import { installQueue, openServer, ROOT } from '../race/testing.ts';
import { withFaults, type Plant } from '../testing.ts';
import { runLoad } from './load.ts';
import { reds } from './reds.ts';
import { loadScenario, type Scenario } from './scenario.ts';

let server: Server;
let small: Scenario;
/** A run takes seconds; many at once on a busy machine take longer. */
const LIMIT_MS = 180_000;
vi.setConfig({ testTimeout: LIMIT_MS });

beforeAll(async () => {
  const load = await loadScenario(ROOT, 'selftest/claimers/load.yaml');
  small = {
    ...load,
    claimers: 3,
    producers: 1,
    sweepers: { count: 1, every_ms: 150, limit: 500 },
    jobs: 120,
    poison_jobs: 0,
    delayed: { share: 0, ms: 1 },
    enqueue: { batch: 10, single_share: 0.2 },
    claim: { batch_share: 0.5, batch: 2, ttl_seconds: 2, struck_ttl_seconds: 1 },
    held_claims: { count: 0, ms: 1, rollback_share: 0 },
    faults: {
      kill_worker: 1,
      stop_worker: 0,
      terminate_backend: 0,
      cut_claim: 0,
      cut_ending: 0,
      cut_enqueue: 0,
      kill_reaper: 0,
      kill_server: 0,
    },
    limits: { load_ms: 60_000, heal_ms: 10_000, drain_ms: 10_000 },
  };
  server = await openServer();
  await server.template('queue', installQueue);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Runs a small load with faults in the SQL, and gives all that the judges found. */
async function loaded(
  plants: readonly Plant[],
  more: Partial<Scenario>,
): Promise<Map<JudgeName, readonly ShownFault[]>> {
  return withFaults(server, plants, async (sandbox, run) => {
    const { history } = await runLoad({ ...small, ...more }, sandbox, run);
    const { findings } = await judgeFile(history);
    return new Map(findings.map(({ judge, faults }) => [judge, faults]));
  });
}

const named = reds.map((red) => [red.faults.map(({ fault }) => fault).join('; '), red] as const);

test.each(named)('it finds %s', async (_name, { faults, scenario }) => {
  const found = await loaded(
    faults.map(({ plant }) => plant),
    scenario(small),
  );
  for (const { finds, says } of faults) {
    const all = found.get(finds) ?? [];
    expect(all.map((one) => one.says).join('\n'), finds).toMatch(says);
    // The trace is the smallest that shows it: a few lines that a person can read.
    const trace = all.find((one) => says.test(one.says))?.trace ?? [];
    expect(trace.length, finds).toBeGreaterThan(0);
    expect(trace.length, finds).toBeLessThanOrEqual(8);
  }
});

test('every judge is seen red here', () => {
  const seen = reds.flatMap(({ faults }) => faults.map(({ finds }) => finds));
  expect([...new Set(seen)].sort()).toEqual([...judgeNames].sort());
});

test('with no fault in the SQL, no judge finds one, zombies or not', async () => {
  const found = await loaded([], { faults: { ...small.faults, stop_worker: 2 } });
  expect([...found.values()].flat().map(({ says }) => says)).toEqual([]);
});
