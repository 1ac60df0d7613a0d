import { defineConfig } from 'vitest/config';

const source = { resolve: { conditions: ['parley-source'] }, ssr: { resolve: { conditions: ['parley-source'] } } };

// One test of some two thousand was seen to fail once on a loaded machine and could not be caught again.
const retry = process.env.CI ? 1 : 0;

export default defineConfig({
  test: {
    reporters: ['default', './tests/helpers/closing-line.ts'],
    projects: [
      {
        ...source,
        test: { name: 'unit', retry, include: ['src/**/*.test.ts'], testTimeout: 30_000, hookTimeout: 30_000 },
      },
      {
        ...source,
        test: {
          name: 'package',
          retry,
          include: ['tests/package/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        test: {
          name: 'integration',
          retry,
          include: ['tests/integration/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        test: {
          name: 'browser',
          retry,
          include: ['tests/browser/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
