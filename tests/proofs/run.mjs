// Does what a person does to add or remove something (proofs.mjs), in a copy of the tree: counts the files that they touch, compiles everything, and
// runs the tests that come with it, or that must not notice. `node tests/proofs/run.mjs TEXT`: only what has the text in its name. The closing line is
// that of the suites.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROOFS } from './proofs.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = ['src', 'tests/helpers', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
const { exclude } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
/** Tests of what stays may use what goes, and would change with it; those that the proof names do not. */
const TESTS = ['**/*.test.ts', '**/*.contract.ts'];

const only = process.argv[2] ?? '';
const waiting = PROOFS.filter(({ name }) => name.includes(only));
let passed = 0;
let failed = 0;
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed > 0 ? 1 : 0;

async function work() {
  for (let proof = waiting.shift(); proof; proof = waiting.shift()) {
    try {
      console.log(`ok      ${proof.name}: ${await prove(proof)}`);
      passed++;
    } catch (error) {
      console.log(`FAILED  ${proof.name}: ${error.message}`);
      failed++;
    }
  }
}

async function prove(proof) {
  const copy = mkdtempSync(join(tmpdir(), 'parley-proof-'));
  try {
    for (const part of PARTS) cpSync(join(root, part), join(copy, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const touched = edit(copy, proof);
    const compiled = {
      extends: './tsconfig.json',
      include: ['src'],
      exclude: [...exclude, ...(proof.remove ? TESTS : [])],
    };
    writeFileSync(join(copy, 'tsconfig.proof.json'), JSON.stringify(compiled));
    await run(copy, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.proof.json']);
    const tests = proof.test ? [proof.test] : (proof.tests ?? []);
    if (tests.length > 0) await run(copy, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', ...tests]);
    if (touched.length > proof.most) throw new Error(`touches ${touched.length} files: ${touched.join(', ')}`);
    const folders = [proof.folder ?? proof.remove ?? []].flat().length;
    return `${folders > 0 ? `folders ${folders}, ` : ''}files ${touched.length} (at most ${proof.most})`;
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
  }
}

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
  for (const gone of [remove ?? []].flat()) rmSync(join(copy, gone), { recursive: true });
  return [...touched].filter((path) => !folder || !path.startsWith(`${folder}/`));
}

async function run(cwd, args) {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const status = await new Promise((resolve) => child.once('close', resolve));
  if (status !== 0) throw new Error(`${args[0]} says\n${said.slice(-3000)}`);
}
