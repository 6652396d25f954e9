/** The queue's settings: set for a run, and read for the header of its history. */
import type { RunConfig } from '../../history/events.ts';
import type { Session } from '../../types.ts';

/** Sets each key, as workflow_admin would. @throws when the queue refuses one. */
export async function setConfig(
  admin: Session,
  config: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [key, value] of Object.entries(config)) {
    const [row] = await admin.query<{ answer: { refused: boolean } }>(
      'select fn_job_config_set($1, $2) as answer',
      [key, value],
    );
    if (row?.answer.refused !== false)
      throw new Error(`the setting ${key} = ${value} was refused: ${JSON.stringify(row?.answer)}`);
  }
}

/** What a judge must know of the configuration, as it is deployed. */
export async function readConfig(
  session: Session,
  kinds: readonly string[],
  cadenceMs: number,
): Promise<RunConfig> {
  const rows = await session.query<{ key: string; value: string }>(
    `select key, value from public.dot_config
      where key like 'queue.retry.max\\_attempts.%' or key like 'queue.lease.ttl\\_seconds.%'`,
  );
  const family = (prefix: string): { default: number; byKind: Record<string, number> } => {
    const values = new Map(rows.map(({ key, value }) => [key, Number(value)]));
    const byKind = kinds.flatMap((kind) => {
      const value = values.get(`${prefix}.${kind}`);
      return value === undefined ? [] : [[kind, value] as const];
    });
    const base = values.get(`${prefix}.default`);
    if (base === undefined) throw new Error(`the setting ${prefix}.default is missing`);
    return { default: base, byKind: Object.fromEntries(byKind) };
  };
  return {
    maxAttempts: family('queue.retry.max_attempts'),
    ttlSeconds: family('queue.lease.ttl_seconds'),
    cadenceMs,
  };
}
