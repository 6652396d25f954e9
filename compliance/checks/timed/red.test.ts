/** Each timed finding is seen red on a real server, with its fault planted in the SQL. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { judgeFile } from '../../history/judge_file.ts';
import type { Observation, Server } from '../../types.ts';
import { edit } from '../claimers/reds.ts';
import { installQueue, openServer, ROOT } from '../race/testing.ts';
import { withFaults, type Plant } from '../testing.ts';
import { timedFindings } from './findings.ts';
import { timedFindingNames, type TimedFindingName } from './names.ts';
import { runTimed } from './perform_run.ts';
import { loadTimed, type TimedScenario } from './scenario.ts';

let server: Server;
/** A run takes seconds; many at once on a busy machine take longer. */
const LIMIT_MS = 180_000;
vi.setConfig({ testTimeout: LIMIT_MS });

beforeAll(async () => {
  server = await openServer();
  await server.template('queue', installQueue);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Runs a scenario with faults in the SQL, and gives what every finding says of it. */
async function observed(
  file: string,
  plants: readonly Plant[],
  more: Partial<TimedScenario> = {},
): Promise<Map<TimedFindingName, Observation[]>> {
  const scenario = { ...(await loadTimed(ROOT, file)), ...more };
  return withFaults(server, plants, async (sandbox, run) => {
    const { history } = await runTimed(scenario, sandbox, run);
    const { digest } = await judgeFile(history, []);
    return new Map(timedFindingNames.map((name) => [name, timedFindings[name](digest, scenario)]));
  });
}

/** What a finding saw when its assertion is broken; empty when it holds. */
function broken(
  found: ReadonlyMap<TimedFindingName, Observation[]>,
  name: TimedFindingName,
): string {
  return (found.get(name) ?? [])
    .flatMap((one) => (one.is === 'assertion' && !one.ok ? [one.seen ?? ''] : []))
    .join('\n');
}

const alsoLengthy = (clock: string): string =>
  `(q.leased_until <= ${clock} - interval '2.5 s' or q.job_kind = 'lengthy')`;

type Fault = { fault: string; says: RegExp; plant: Plant };
const faults: Readonly<Record<Exclude<TimedFindingName, 'lost-reaper'>, Fault>> = {
  'late-claim': {
    fault: "a lease from the transaction's clock",
    says: /was leased for -?\d/,
    plant: edit(['dot_queue.grant_leases', /:= clock_timestamp\(\)/, ':= now()']),
  },
  renewing: {
    fault: 'a renewal that is accepted and moves nothing',
    says: /promised an end that the row does not have/,
    plant: edit([
      'fn_job_lease_renew',
      /set leased_until = v_until/,
      'set leased_until = q.leased_until',
    ]),
  },
  'crash-loop': {
    fault: 'a reaper that kills at the first crash',
    says: /after 1 of 2 grants/,
    plant: edit([
      'dot_queue.reap_rows',
      /q\.attempts >= dot_queue\.max_attempts\(q\.job_kind\)/,
      'true',
    ]),
  },
  'kill-to-grant': {
    fault: 'the same: nobody can go on with what was killed',
    says: /ends dead_letter/,
    plant: () => Promise.resolve(),
  },
  'expiry-to-reap': {
    fault: 'a reaper that waits much longer than the lease',
    says: /was reaped \d{4} ms after its lease had ended/,
    plant: edit(['fn_job_lease_reaper', /q\.leased_until <= v_now/, alsoLengthy('v_now')]),
  },
  'two-ttls': {
    fault: 'and that takes the long lease with the short ones',
    says: /lost its lease .* too early/,
    plant: () => Promise.resolve(),
  },
};

test('a run on a broken queue breaks every finding that its faults belong to', async () => {
  const plants = Object.values(faults).map(({ plant }) => plant);
  const found = await observed('selftest/timed/killed_workers.yaml', plants, {
    // One crasher is left without a job, so this run is never through.
    limit_ms: 12_000,
  });
  for (const [name, { says, fault }] of Object.entries(faults))
    expect(broken(found, name as TimedFindingName), fault).toMatch(says);
});

test('a gap view that keeps quiet about expired leases is found by the negative control', async () => {
  const quiet: Plant = async (sandbox) => {
    await using session = await sandbox.session('breaks a view');
    const [row] = await session.query<{ text: string }>(
      "select pg_get_viewdef('public.v_job_silent_gap'::regclass) as text",
    );
    const text = row?.text.replace(/;\s*$/, '') ?? '';
    await session.query(
      `create or replace view public.v_job_silent_gap as
       select * from (${text}) v where v.reason <> 'lease_expired_unreaped'`,
    );
  };
  const found = await observed('selftest/timed/lost_reaper.yaml', [quiet], { limit_ms: 8_000 });
  expect(broken(found, 'lost-reaper')).toMatch(/no alarm lease_expired_unreaped/);
});

test('on the queue as it is, every finding holds', async () => {
  const found = await observed('selftest/timed/killed_workers.yaml', []);
  for (const name of Object.keys(faults)) expect(broken(found, name as TimedFindingName)).toBe('');
});
