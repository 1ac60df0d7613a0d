// Replicas of a gateway as processes: a private Redis, N processes of the same program, and one address for all of them. Everything ends with `close`.
//
// The program takes `optionsOf()` of options.mjs, listens at any port, and prints its URL.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort, untilItListens } from '../conformance/harness/ports.mjs';
import { RoundRobin } from './round-robin.mjs';

const HOST = '127.0.0.1';
const STOP_MS = 10_000;

/** `{ url, close() }`. The address is there at once, and requests wait until all of them are. */
export async function startReplicas({ count, port, program, args }) {
  const started = [];
  const targets = [];
  const { promise: ready, resolve: begin } = deferred();
  const proxy = new RoundRobin(() => targets, ready);
  const publicUrl = await proxy.listen(port);
  const redis = await startRedis();
  const close = async () => {
    proxy.close();
    await Promise.all(started.map((child) => end(child, 'SIGTERM')));
    await redis.close();
  };
  const start = async () => {
    const internal = await freePort();
    const env = { REPLICA_INTERNAL: internal, REPLICA_STATE: redis.url, REPLICA_PUBLIC: publicUrl };
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    started.push(child);
    targets.push(await urlFrom(child));
  };
  try {
    await Promise.all(Array.from({ length: count }, start));
  } catch (error) {
    await close();
    throw error;
  }
  begin();
  return { url: publicUrl, close };
}

function deferred() {
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}

/** The first line that a replica prints. */
async function urlFrom(child) {
  const failed = once(child, 'exit').then(([status]) => {
    throw new Error(`a replica ended with ${status} before it listened`);
  });
  const [url] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), failed]);
  return url;
}

/** Nothing of it is kept. */
export async function startRedis() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-replicas-'));
  const port = await freePort();
  const settings = { port, bind: HOST, dir: folder, save: '', appendonly: 'no' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  await untilItListens(port, child);
  return {
    url: `redis://${HOST}:${port}`,
    async close() {
      await end(child, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function end(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}
