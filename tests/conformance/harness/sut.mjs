// The server under test: started on a free port, awaited until it accepts connections, ended with everything it started.
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { RESULTS } from './paths.mjs';
import { endGroup, killGroup, spawnGroup } from './process-groups.mjs';

const HOST = '127.0.0.1';
const START_MS = 20_000;
const STOP_MS = 3_000;

export async function startSut(command) {
  const port = await freePort();
  const log = join(RESULTS, 'sut.log');
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

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, HOST, () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function untilItListens(port, child) {
  const deadline = Date.now() + START_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null)
      throw new Error(`The server under test exited with ${child.exitCode} before it listened.`);
    if (Date.now() > deadline)
      throw new Error(`The server under test did not listen on ${port} within ${START_MS} ms.`);
    await delay(50);
  }
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function stop(child, ended) {
  killGroup(child.pid, 'SIGTERM');
  await Promise.race([ended, delay(STOP_MS, undefined, { ref: false })]);
  endGroup(child.pid);
}
