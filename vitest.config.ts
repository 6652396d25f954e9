import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['compliance/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
  },
});
