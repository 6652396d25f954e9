/** A load scenario as data (`selftest/claimers/*.yaml`): who works, on what, and what strikes them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { refuseProblems } from '../../manifest/problem.ts';
import { readSource } from '../../manifest/source.ts';
import { schemaProblems } from '../../manifest/zod_problems.ts';

const count = z.int().min(0);
const some = z.int().min(1);
const share = z.number().min(0).max(1);
const kind = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,62}$/, 'a job kind is lower-case letters, digits and _');

/** What strikes during the load, how often each. */
const faults = z.strictObject({
  kill_worker: count.describe('SIGKILL of a worker that holds a job'),
  stop_worker: count.describe('SIGSTOP beyond the end of its lease, then SIGCONT: a zombie'),
  terminate_backend: count.describe('pg_terminate_backend while a call runs'),
  cut_claim: count.describe("a claim's connection is cut after the commit, before the answer"),
  cut_ending: count.describe('the same for the call that ends a job'),
  cut_enqueue: count.describe('the same for an enqueue'),
  kill_reaper: count.describe('SIGKILL of a reaper whose sweep is not yet committed'),
  kill_server: count.describe('SIGKILL of the whole server, and restart'),
});

const schema = z.strictObject({
  description: z.string().min(1),
  claimers: some.describe('worker processes that claim'),
  producers: some.describe('processes that enqueue'),
  sweepers: z.strictObject({
    count: some.describe('reapers at once'),
    every_ms: some,
    limit: some.max(100_000),
  }),
  jobs: some,
  kinds: z.array(kind).min(1),
  priorities: z.int().min(0).describe('priorities from 0 to this'),
  poison_jobs: count.describe('jobs of kind "poison": each kills every worker that claims it'),
  contended_keys: count.describe('keys that every producer enqueues'),
  delayed: z.strictObject({ share, ms: some }),
  enqueue: z.strictObject({ batch: some.max(1000), single_share: share }),
  claim: z.strictObject({
    batch_share: share,
    batch: some.max(1000),
    ttl_seconds: some,
    struck_ttl_seconds: some.describe('TTL of the leases that a fault will strike'),
  }),
  held_claims: z.strictObject({ count, ms: some, rollback_share: share }),
  work: z.strictObject({
    progress: share,
    renew: share,
    fail_transient: share,
    fail_permanent: share,
    repeat: share.describe('the call that ended the job is made once more'),
    redelivered_hold_ms: count.describe('a redelivered job is held so long: a zombie may meet it'),
  }),
  faults,
  config: z.record(z.string(), z.string()).describe('settings of the queue for this run'),
  limits: z.strictObject({ load_ms: some, heal_ms: some, drain_ms: some }),
});

export type Scenario = z.infer<typeof schema> & { file: string };
export type FaultCounts = z.infer<typeof faults>;

/**
 * Reads a scenario.
 * @param file Relative to `root`.
 * @throws KitError 65 with every mistake as file:line:col.
 */
export async function loadScenario(root: string, file: string): Promise<Scenario> {
  const source = readSource(await readFile(join(root, file), 'utf8'), file);
  refuseProblems([...source.problems]);
  refuseProblems(schemaProblems(schema, source));
  return { ...schema.parse(source.data), file };
}
