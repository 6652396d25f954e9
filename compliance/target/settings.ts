/**
 * postgresql.conf of a throwaway cluster. Durability against a power cut is given up, since the
 * folder is thrown away; everything that decides behaviour (isolation, synchronous_commit,
 * autovacuum, planner) stays as PostgreSQL ships it.
 */
import type { Env } from './fetch.ts';

/** The whole file, as text. `folder` holds the socket; TZ of `env` becomes the server's time zone. */
export function settingsText(
  folder: string,
  env: Env,
  more: Readonly<Record<string, string>> = {},
): string {
  const timezone = (env.TZ ?? '').replace(/^:/, '') || 'UTC';
  const settings: Record<string, string> = {
    listen_addresses: '',
    // A list: quotes keep a folder with a comma in its name in one piece.
    unix_socket_directories: `"${folder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: '5432',
    max_connections: '200',
    max_prepared_transactions: '0',
    max_wal_senders: '0',
    shared_buffers: '128MB',
    // No file is left in /dev/shm when the server is killed.
    dynamic_shared_memory_type: 'mmap',
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'on',
    // A checkpoint in the middle of a measurement would be noise.
    max_wal_size: '4GB',
    checkpoint_timeout: '30min',
    autovacuum: 'on',
    autovacuum_naptime: '60s',
    jit: 'off',
    timezone,
    log_timezone: timezone,
    datestyle: 'iso, ymd',
    lc_messages: 'C',
    log_line_prefix: '%m [%p] %q%d %a ',
    ...more,
  };
  const quote = (value: string): string => `'${value.replaceAll("'", "''")}'`;
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${quote(value)}\n`)
    .join('');
}
