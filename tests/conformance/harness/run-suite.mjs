// One run of the suite's command line, with a deadline. The suite kills only the shell it spawned and then waits for the
// pipes, so a client that leaves children behind would hang it for ever: it gets a process group, and the group is killed.
import { createWriteStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, SUITE } from './paths.mjs';
import { endGroup, spawnGroup } from './process-groups.mjs';

const HOOK = new URL('../supply-glob-sync.mjs', import.meta.url).href;

/** Resolves with the exit code (undefined when the deadline came first) and everything printed. */
export function runSuite(args, { deadlineMs, log }) {
  return new Promise((resolve, reject) => {
    const child = spawnGroup(process.execPath, ['--import', HOOK, join(SUITE, 'dist', 'index.js'), ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    const file = createWriteStream(log, { flags: 'a' });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        printed += text;
        file.write(text);
      });
    }
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      endGroup(child.pid);
    }, deadlineMs);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      endGroup(child.pid);
      file.end();
      resolve({ code: late ? undefined : code, printed });
    });
  });
}

/** The checks of a scenario, from the newest folder the suite made for it; undefined when it made none. */
export async function readChecks(folder, scenario) {
  // A name with a slash makes a sub-folder; the suite ends each name with a time stamp.
  const parts = scenario.split('/');
  const name = parts.pop();
  const parent = join(folder, ...parts);
  const entries = await readdir(parent).catch(() => []);
  const own = entries.filter((entry) => entry.startsWith(`${name}-`) && /^\d{4}-/.test(entry.slice(name.length + 1)));
  const newest = own.toSorted().at(-1);
  if (newest === undefined) return undefined;
  const text = await readFile(join(parent, newest, 'checks.json'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}
