// What was answered in a session that has ended is in no byte of its SQLite file or of the log beside it, also if the process is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSqliteStore } from '../../src/flow/store/sqlite/sqlite.ts';
import { header } from '../../src/flow/store/store-samples.contract.ts';
import { ROOT } from '../helpers/files.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { until, within } from '../helpers/until.ts';

const PROGRAM = join(ROOT, 'tests', 'fixtures', 'programs', 'end-and-wait.mjs');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-wiped-'));
});
afterEach(() => removeFolder(folder));

const path = () => join(folder, 'flows.db');
const files = () => readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes('MARK'));

/** A process with a session that was answered; `end` ends the session there. */
async function answered() {
  const args = [PROGRAM, path(), JSON.stringify(header())];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await within('the answer', lines.next());
  return {
    async end() {
      child.stdin.write('end\n');
      await within('the end', lines.next());
    },
    async kill() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await within('its death', gone);
    },
  };
}

test('nothing that was answered is left in the file or its log while the process goes on, nor when it is killed', async () => {
  const worker = await answered();
  expect(files()).not.toEqual([]);
  await worker.end();
  await until('the log to be emptied', () => files().length === 0);
  await worker.kill();
  expect(files()).toEqual([]);
});

test('a process that is killed right after the end leaves the rest to the next one that opens the file', async () => {
  const worker = await answered();
  await worker.end();
  await worker.kill();
  const store = await createSqliteStore({ path: path() });
  expect(files()).toEqual([]);
  await store.close();
});
