// Several processes that open a new file of the SQLite store at the same moment.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { ROOT } from '../helpers/files.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

const PROCESSES = 4;
const ROUNDS = 12;
const folder = mkdtempSync(join(tmpdir(), 'parley-opening-'));
afterAll(() => removeFolder(folder));

/** Loads everything first, so that all of them open when they are told to. */
const PROGRAM = `
  const { createSqliteStore } = await import(process.argv[1]);
  console.log('ready');
  for await (const path of process.stdin.setEncoding('utf8')) {
    console.log(await createSqliteStore({ path: path.trim() }).then((store) => store.close().then(() => 'opened'), String));
  }`;

function startOpener() {
  const flow = pathToFileURL(join(ROOT, 'dist', '_entries', 'flow.js')).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, flow], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8');
  const said = async (): Promise<string> => String((await once(child.stdout, 'data'))[0]).trim();
  return { child, said };
}

it('all of them get it', async () => {
  const openers = Array.from({ length: PROCESSES }, startOpener);
  await Promise.all(openers.map(({ said }) => said()));
  const outcomes: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const answers = openers.map(({ said }) => said());
    for (const { child } of openers) child.stdin.write(`${join(folder, `${round}.db`)}\n`);
    outcomes.push(...(await Promise.all(answers)));
  }
  for (const { child } of openers) child.stdin.end();
  expect(outcomes.filter((outcome) => outcome !== 'opened')).toEqual([]);
  expect(outcomes).toHaveLength(PROCESSES * ROUNDS);
});
