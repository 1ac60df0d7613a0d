// Does what a person does to add or remove something (proofs.mjs), in a copy of the tree: counts the files that they touch, compiles everything, and
// runs the test that comes with it. The closing line is that of the suites.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROOFS } from './proofs.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = ['src', 'tests/helpers', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
/** Tests of what stays may use what goes; they would go with it. */
const SHIPPED = { extends: './tsconfig.json', include: ['src'], exclude: ['**/*.test.ts', '**/*.contract.ts'] };

/** `node tests/proofs/run.mjs TEXT`: only what has it in its name. */
const only = process.argv[2] ?? '';
let passed = 0;
let failed = 0;
for (const proof of PROOFS.filter(({ name }) => name.includes(only))) {
  const copy = mkdtempSync(join(tmpdir(), 'parley-proof-'));
  try {
    for (const part of PARTS) cpSync(join(root, part), join(copy, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const touched = edit(copy, proof);
    writeFileSync(
      join(copy, 'tsconfig.proof.json'),
      JSON.stringify(proof.remove ? SHIPPED : { ...SHIPPED, exclude: [] }),
    );
    run(copy, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.proof.json']);
    if (proof.test) run(copy, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', proof.test]);
    if (touched.length > proof.most) throw new Error(`touches ${touched.length} files: ${touched.join(', ')}`);
    console.log(
      `ok      ${proof.name}: ${(proof.folder ?? proof.remove) ? 'one folder and ' : ''}${touched.length} files (at most ${proof.most})`,
    );
    passed++;
  } catch (error) {
    console.log(`FAILED  ${proof.name}: ${error.message}`);
    failed++;
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
  }
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed > 0 ? 1 : 0;

/** The files that were touched, those in the proof's own folder not counted. */
function edit(copy, { write = {}, insert = [], remove, lines = [], folder }) {
  const touched = new Set();
  for (const [path, text] of Object.entries(write)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
    touched.add(path);
  }
  for (const [path, before, added, instead = added + before] of insert) {
    const text = readFileSync(join(copy, path), 'utf8');
    if (!text.includes(before)) throw new Error(`${path} has no ${JSON.stringify(before)}`);
    writeFileSync(
      join(copy, path),
      text.replace(before, () => instead),
    );
    touched.add(path);
  }
  for (const [path, going, change] of lines) {
    let text = readFileSync(join(copy, path), 'utf8');
    if (change) text = text.replace(...change);
    writeFileSync(
      join(copy, path),
      text
        .split('\n')
        .filter((line) => !going.test(line))
        .join('\n'),
    );
    touched.add(path);
  }
  if (remove) rmSync(join(copy, remove), { recursive: true });
  return [...touched].filter((path) => !folder || !path.startsWith(`${folder}/`));
}

function run(cwd, args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args[0]} says\n${(stdout + stderr).slice(-3000)}`);
}
