// The server under test: started on a free port, awaited until it accepts connections, ended with everything it started.
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RESULTS } from './paths.mjs';
import { freePort, HOST, untilItListens } from './ports.mjs';
import { endGroup, killGroup, spawnGroup } from './process-groups.mjs';

const STOP_MS = 3_000;

export async function startSut(command, folder = RESULTS) {
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const log = join(folder, 'sut.log');
  const output = openSync(log, 'w');
  const child = spawnGroup(command.replaceAll('{port}', String(port)), [], {
    shell: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    await untilItListens(port, child);
  } catch (error) {
    endGroup(child.pid);
    throw new Error(`${error.message}\n${readFileSync(log, 'utf8').trimEnd()}`, { cause: error });
  }
  return { url: `http://${HOST}:${port}/mcp`, stop: () => stop(child, ended) };
}

async function stop(child, ended) {
  killGroup(child.pid, 'SIGTERM');
  await Promise.race([ended, delay(STOP_MS, undefined, { ref: false })]);
  endGroup(child.pid);
}
