import { defineConfig } from 'vitest/config';

const source = { resolve: { conditions: ['parley-source'] }, ssr: { resolve: { conditions: ['parley-source'] } } };

// Long enough for a machine that is twenty times busier than it should be: a test waits for events, and fails when none comes.
export default defineConfig({
  test: {
    reporters: ['default', './tests/helpers/closing-line.ts', './tests/helpers/results-file.ts'],
    projects: [
      {
        ...source,
        test: { name: 'unit', include: ['src/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
      },
      {
        ...source,
        test: {
          name: 'package',
          include: ['tests/package/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        ...source,
        test: {
          name: 'integration',
          include: ['tests/integration/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // With peers that Parley did not make; needs `npm ci --prefix tests/peers`.
        ...source,
        test: {
          name: 'borders',
          include: ['tests/peers/borders/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        ...source,
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
