import { defineConfig } from 'vitest/config';

const source = { resolve: { conditions: ['parley-source'] }, ssr: { resolve: { conditions: ['parley-source'] } } };

export default defineConfig({
  test: {
    // One test of some two thousand was seen to fail once on a loaded machine and could not be caught again.
    retry: process.env.CI ? 1 : 0,
    reporters: ['default', './tests/helpers/closing-line.ts'],
    projects: [
      { ...source, test: { name: 'unit', include: ['src/**/*.test.ts'], testTimeout: 30_000 } },
      { ...source, test: { name: 'package', include: ['tests/package/**/*.test.ts'], testTimeout: 60_000 } },
      {
        ...source,
        test: {
          name: 'integration',
          include: ['tests/integration/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
