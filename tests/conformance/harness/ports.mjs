// Finds a free port, and waits until a server listens on one.
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export const HOST = '127.0.0.1';
const START_MS = 20_000;

export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, HOST, () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

export async function untilItListens(port, child) {
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
