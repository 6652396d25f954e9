/** A timed scenario as data (`selftest/timed/*.yaml`): a cast of processes, and a reaper or none. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { refuseProblems } from '../../manifest/problem.ts';
import { readSource } from '../../manifest/source.ts';
import { schemaProblems } from '../../manifest/zod_problems.ts';
import type { TimedRole } from './roles.ts';

const some = z.int().min(1);
const kind = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,62}$/, 'a job kind is lower-case letters, digits and _');

const actor = z.strictObject({
  name: z.string().regex(/^[a-z]+$/, 'an actor is named in lower-case letters'),
  processes: some,
  kinds: z.array(kind).min(1),
  ttl_seconds: some.nullable().describe('TTL it claims with; null: the configured default'),
  does: z.enum(['die', 'renew', 'rescue', 'claim_late']),
  every_ms: some.optional().describe('renew: how often; rescue: how often it asks'),
  open_ms: some.optional().describe('claim_late: how long its transaction is open before'),
});

const schema = z.strictObject({
  description: z.string().min(1),
  config: z.record(z.string(), z.string()),
  reaper: z
    .strictObject({ every_ms: some, limit: some.max(100_000) })
    .nullable()
    .describe('null: nobody sweeps, and the alarms must be raised'),
  jobs: z.array(
    z.strictObject({
      kind,
      count: some,
      stays: z.boolean().default(false).describe('it is not finished during the run'),
    }),
  ),
  cast: z.array(actor).min(1),
  renew_for_ms: z.int().min(0).describe('how long a renewing worker goes on'),
  alarms: z.array(z.string()).default([]).describe('what the gap view must name'),
  alarm_after_ms: z
    .int()
    .min(0)
    .default(0)
    .describe('how long after its cause the slowest of them is due'),
  tolerance_ms: some.describe('what scheduling may add to a measured time'),
  limit_ms: some,
});

export type TimedScenario = z.infer<typeof schema> & { file: string };
export type Actor = z.infer<typeof actor>;

/**
 * Reads a scenario.
 * @param file Relative to `root`.
 * @throws KitError 65 with every mistake as file:line:col.
 */
export async function loadTimed(root: string, file: string): Promise<TimedScenario> {
  const source = readSource(await readFile(join(root, file), 'utf8'), file);
  refuseProblems([...source.problems]);
  refuseProblems(schemaProblems(schema, source));
  return { ...schema.parse(source.data), file };
}

/** What a process of an actor is told to do. */
export function roleOf({ name, kinds, ttl_seconds: ttlSeconds, ...actor }: Actor): TimedRole {
  const { every_ms: everyMs = 50, open_ms: openMs = 0 } = actor;
  const common = { name, kinds, ttlSeconds };
  switch (actor.does) {
    case 'die':
      return { ...common, does: 'die' };
    case 'renew':
      return { ...common, does: 'renew', everyMs };
    case 'rescue':
      return { ...common, does: 'rescue', pollMs: everyMs };
    case 'claim_late':
      return { ...common, does: 'claim_late', openMs };
  }
}

/** The kinds of the actors that do something, for example the ones that renew. */
export function kindsThat({ cast }: TimedScenario, does: Actor['does']): Set<string> {
  return new Set(cast.filter((one) => one.does === does).flatMap(({ kinds }) => kinds));
}
