// Users who export Parley's values publish declarations that name its types. A type that the package does not export
// would appear as a path into dist/, which no other package can import.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../helpers/files.ts';

const OPTIONS = [
  '--ignoreConfig',
  '--strict',
  '--exactOptionalPropertyTypes',
  '--skipLibCheck',
  '--module',
  'nodenext',
  '--target',
  'es2023',
  '--types',
  'node',
  '--declaration',
  '--emitDeclarationOnly',
  '--rootDir',
  '.',
];

it('the declarations of a program on top of Parley name only public types', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-consumer-'));
  try {
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    const run = spawnSync(tsc, [...OPTIONS, '--outDir', folder, 'tests/package/consumer.ts'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect({ output: run.stdout + run.stderr, status: run.status }).toEqual({ output: '', status: 0 });
    const written = readFileSync(join(folder, 'tests/package/consumer.d.ts'), 'utf8');
    expect(written).toContain('import("mcp-parley").Gateway');
    expect(written.split('\n').filter((line) => line.includes('/dist/'))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
