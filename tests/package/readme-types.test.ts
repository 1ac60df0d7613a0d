// The programs of README.md as TypeScript in the strictest settings, against the types that the package ships.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../helpers/built.ts';
import { ROOT, read } from '../helpers/files.ts';

const STRICT = [
  ...['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit', '--skipLibCheck'],
  ...['--module', 'nodenext', '--target', 'es2023', '--types', 'node'],
];

let folder: string;
beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(ROOT, 'tests', 'package', '.readme-')); // inside the package, so that it finds itself by its name
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('every program in README.md compiles as strict TypeScript', () => {
  const programs = [...read('README.md').matchAll(/```(?:js|ts)\n(import [\s\S]*?)```/g)].map(([, code]) => code!);
  expect(programs.length).toBeGreaterThanOrEqual(2);
  const files = programs.map((code, index) => {
    const path = join(folder, `program-${index}.mts`);
    writeFileSync(path, code);
    return path;
  });
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const { stdout, stderr, status } = spawnSync(tsc, [...STRICT, '--ignoreConfig', ...files], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: '', status: 0 });
});
