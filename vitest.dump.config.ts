import { defineConfig } from 'vitest/config';

/** What needs Debian's PostgreSQL (psql, pg_dump, plpgsql_check), which a new machine does not have: scripts/check-dump. */
export default defineConfig({
  test: { include: ['compliance/**/*.dump.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
});
