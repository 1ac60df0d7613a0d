// Users who export Parley's values publish declarations that name its types. A type that the package does not export
// would appear as a path into dist/, which no other package can import.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compileStrictly } from '../helpers/compile-strictly.ts';

const DECLARATIONS = ['--declaration', '--emitDeclarationOnly', '--rootDir', '.'];

it('the declarations of a program on top of Parley name only public types', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-consumer-'));
  try {
    const compiled = compileStrictly(...DECLARATIONS, '--outDir', folder, 'tests/package/consumer.ts');
    expect(compiled).toEqual({ output: '', status: 0 });
    const written = readFileSync(join(folder, 'tests/package/consumer.d.ts'), 'utf8');
    expect(written).toContain('import("mcp-parley").Gateway');
    expect(written.split('\n').filter((line) => line.includes('/dist/'))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
