import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Processes that tests start run the built package. */
const globalSetup = './tests/helpers/build.ts';
/** Tests themselves run the sources. */
const source = {
  resolve: {
    alias: [
      { find: /^mcp-parley$/, replacement: entry('index') },
      { find: /^mcp-parley\/(\w+)$/, replacement: entry('$1') },
    ],
  },
};

function entry(name: string): string {
  return new URL(`./src/_entries/${name}.ts`, import.meta.url).pathname;
}

// Long enough for a machine that is twenty times busier than it should be: a test waits for events, and fails when none comes.
export default defineConfig({
  test: {
    reporters: ['default', './tests/helpers/closing-line.ts', './tests/helpers/results-file.ts'],
    // Two on two cores, where vitest would take one: tests wait for others much of their time. `npm test` takes three, since its tests start
    // few processes of their own.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts'],
          // Files share their modules, so that each is loaded once in each worker: a test may mock no module, and leaves globals as
          // they were.
          isolate: false,
          setupFiles: './tests/helpers/forget-secrets.ts',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        test: {
          name: 'package',
          globalSetup,
          include: ['tests/package/**/*.test.ts'],
          isolate: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        ...source,
        test: {
          name: 'integration',
          globalSetup,
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
          globalSetup,
          include: ['tests/peers/borders/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        ...source,
        test: {
          name: 'browser',
          globalSetup,
          include: ['tests/browser/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
