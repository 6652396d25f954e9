import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['compliance/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Many tests mostly wait, for a lease to end or a server to start: even two cores do two at a time.
    maxWorkers: Math.max(2, availableParallelism()),
  },
});
