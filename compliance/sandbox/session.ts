/** One connection with a name, which the server shows as `application_name`. */
import pg from 'pg';
import { KitError, messageOf } from '../errors.ts';
import type { Session } from '../types.ts';

const TOO_MANY_CONNECTIONS = '53300';

/**
 * Connects. With a role, `set role` is done. Values arrive as node-postgres gives them: int8 and
 * numeric as text, timestamptz as Date, jsonb parsed. A text of several statements gives the rows of
 * the last one. Disposing closes the connection at once, even while a query runs.
 * Throws KitError 69 when the server has no connection left.
 */
export async function openSession(
  settings: pg.ClientConfig,
  name: string,
  role?: string,
): Promise<Session> {
  const client = new pg.Client({ ...settings, application_name: name });
  // A killed backend is reported here too; the query that was running rejects, which is enough.
  client.on('error', () => undefined);
  await connect(client);
  const session: Session = {
    name,
    pid: backendPid(client),
    client,
    async query<Row extends Record<string, unknown>>(
      sql: string,
      values?: readonly unknown[],
    ): Promise<Row[]> {
      const result = (await client.query(sql, values ? [...values] : undefined)) as
        pg.QueryResult<Row> | pg.QueryResult<Row>[];
      return Array.isArray(result) ? (result.at(-1)?.rows ?? []) : result.rows;
    },
    async [Symbol.asyncDispose]() {
      await client.end().catch(() => undefined);
    },
  };
  try {
    if (role !== undefined) await client.query(`set role ${client.escapeIdentifier(role)}`);
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
  return session;
}

async function connect(client: pg.Client): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    if ((error as { code?: string }).code !== TOO_MANY_CONNECTIONS) throw error;
    throw new KitError(
      69,
      `the server takes no further connection: ${messageOf(error)}`,
      'run fewer checks at once with --jobs, or raise max_connections there',
    );
  }
}

/** node-postgres keeps it from the server's greeting; its types do not say so. */
function backendPid(client: pg.Client): number {
  const { processID } = client as unknown as { processID: number | null };
  if (processID === null) throw new Error('the server sent no backend pid');
  return processID;
}
