// One gateway under measurement: its process, a client that loads it, and what /proc says of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { drive } from '../load/drive.mjs';
import { httpClient } from '../load/http.mjs';
import { callOf } from '../load/messages.mjs';
import { sseClient } from '../load/sse.mjs';
import { stdioClient } from '../load/stdio.mjs';
import { quantile } from '../report/quantile.mjs';
import { invocation, SERVER } from './contenders.mjs';
import { cpuMicros, processesOf } from './processes.mjs';

const STARTS_WITHIN_MS = 15_000;
const ENDS_WITHIN_MS = 2000;
const AGAIN_MS = 3;
const CLIENTS = { http: httpClient, sse: sseClient, stdio: stdioClient };

/** Why this contender is not in this group; undefined if it is. */
export function whyNot(name, group) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const { cannot } = invocation(name, group, given(name, group, { url: 'http://127.0.0.1:1/mcp', port: 1, folder }));
  rmSync(folder, { recursive: true });
  return cannot;
}

/** Starts it and makes one call, from which the times of starting are known. `server`: the one on HTTP. `flags`: of Node, to look inside. */
export async function startContender(name, group, server, flags = []) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const port = await freePort();
  const how = invocation(name, group, given(name, group, { url: server.url, port, folder }));
  const began = performance.now();
  const running = how.args
    ? start({ ...how, args: how.command ? how.args : [...flags, ...how.args] }, folder)
    : { pid: server.pid };
  const contender = new Contender({ name, group, how, running, folder });
  try {
    const target = how.url ?? `http://127.0.0.1:${port}/mcp`;
    await contender.open(target);
    contender.firstAnswerMs = contender.client.greetedAt - began;
    await contender.checkPatiently('small');
    contender.firstCallMs = performance.now() - began;
    return contender;
  } catch (error) {
    const words = running.words?.() ?? '';
    await contender.stop();
    throw new Error(`${error.message}${words && `; ${words}`}`, { cause: error });
  }
}

/** The server, in the era that this contender is to speak with it. */
function given(name, { from, to, era, serverEra }, { url, port, folder }) {
  const spoken = ['direct', 'relay', 'pipe', 'nginx'].includes(name) ? era : serverEra;
  const command = [process.execPath, SERVER, '--stdio'];
  const on = (transport) => (transport === 'stdio' ? [...command, '--era', spoken] : [`${url}/${spoken}`]);
  return { port, folder, server: on(to), own: on(from), bothEras: command };
}

class Contender {
  constructor({ name, group, how, running, folder }) {
    Object.assign(this, { name, group, how, running, folder });
    this.calls = {};
    /** Not to be given many calls at once. */
    this.isSlow = how.processPerCall === true;
  }

  /** Opens its client; callers that want many open more. */
  async open(target) {
    this.target = target;
    this.client = await this.newClient(() => this.isAlive && !this.isLate);
  }

  newClient(patient) {
    const kind = this.group.from === 'stdio' ? 'stdio' : (this.how.client ?? 'http');
    const opening = CLIENTS[kind]({ child: this.running.child, url: this.target, era: this.group.era, patient });
    return this.within(STARTS_WITHIN_MS, 'open', opening);
  }

  get isAlive() {
    const { child } = this.running;
    return !child || (child.exitCode === null && child.signalCode === null);
  }

  get rootPid() {
    return this.running.pid;
  }

  get pids() {
    return processesOf(this.rootPid, this.how.isServer);
  }

  /** A call of its own for every client: its text has the session in it. */
  newCall(size) {
    return callOf(size, this.group.era, this.how.tool);
  }

  callOf(size) {
    return (this.calls[size] ??= this.newCall(size));
  }

  check(size) {
    return this.within(STARTS_WITHIN_MS, 'answer', this.client.check(this.callOf(size)));
  }

  /** Some answer before their server is known, and then with an error. */
  async checkPatiently(size) {
    const until = performance.now() + STARTS_WITHIN_MS;
    for (;;) {
      try {
        return await this.check(size);
      } catch (error) {
        if (!this.isAlive || performance.now() > until) throw error;
        await sleep(AGAIN_MS);
      }
    }
  }

  load(size, plan) {
    this.client.renew();
    return drive(this.client, this.callOf(size), plan);
  }

  /** One batch of calls: CPU per call of the gateway, latency, throughput. */
  async measure(size, plan) {
    const { pids } = this;
    const before = cpuMicros(pids);
    const { latencies, ms } = await drive(this.client, this.callOf(size), plan);
    const cpu = (cpuMicros(pids) - before) / latencies.length;
    latencies.sort((a, b) => a - b);
    return { cpu, p50: quantile(latencies, 0.5), rate: (latencies.length / ms) * 1000 };
  }

  async stop() {
    this.client?.renew();
    this.client?.close?.();
    const { child } = this.running;
    if (child && this.isAlive) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const late = sleep(ENDS_WITHIN_MS).then(() => child.kill('SIGKILL'));
      await Promise.race([exited, late.then(() => exited)]);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  async within(ms, what, promise) {
    const late = new AbortController();
    const timer = sleep(ms, undefined, { signal: late.signal }).then(
      () => {
        this.isLate = true;
        throw new Error(`did not ${what} within ${ms / 1000} s`);
      },
      () => undefined,
    );
    const exited = this.running.exited?.then((code) => {
      throw new Error(`exited with ${code}`);
    });
    return Promise.race([promise, timer, ...(exited ? [exited] : [])]).finally(() => late.abort());
  }
}

/** Homes of their own: some keep caches and logs there. What it says on stderr is kept, for when it fails. */
function start({ command = process.execPath, args }, folder) {
  const own = {
    HOME: folder,
    XDG_STATE_HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CACHE_HOME: folder,
    // Node reads all certificates before it does anything, for longer than all the rest of its start, in every process.
    NODE_EXTRA_CA_CERTS: undefined,
  };
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: folder,
    env: { ...process.env, PARLEY_TRUST: tmpdir(), ...own },
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said = (said + chunk).slice(-500)));
  child.stdin.on('error', () => undefined); // told by its exit
  const exited = once(child, 'exit').then(([code, signal]) => signal ?? code);
  exited.catch(() => undefined);
  // Unread, what it says would fill the pipe; a client on stdio takes it from here.
  child.stdout.resume();
  return { child, pid: child.pid, exited, words: () => said.trim().replaceAll(/\s+/g, ' ') };
}

/** Below those that the system gives to outgoing connections: one of them could be gone before it is used. */
async function freePort() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
