// Servers as real processes, each a disposable resource.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from './files.ts';
import { until, within } from './until.ts';

const NODE = ['--expose-gc'];
const STORM = join(ROOT, 'tests', 'fixtures', 'servers', 'storm.mjs');
const FIXTURE = join(ROOT, 'tests', 'acceptance', 'fixture.mjs');

export interface ServerProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly port: number;
  /** Ends in /mcp. */
  readonly url: string;
  /** Its stderr so far. */
  complaints(): string;
  /** Asks it to close and returns its exit status; null if it had to be killed. */
  stop(): Promise<number | null>;
}

/** The stress-test server, over HTTP. */
export async function startStorm(options: { limits?: object; identify?: boolean } = {}): Promise<ServerProcess> {
  const args = ['--port', '0'];
  if (options.limits) args.push('--limits', JSON.stringify(options.limits));
  if (options.identify) args.push('--identify');
  const child = spawn(process.execPath, [...NODE, STORM, ...args], { cwd: ROOT });
  const lines = createInterface({ input: child.stdout });
  const [port] = (await within('the port of the storm server', Promise.race([once(lines, 'line'), died(child)]))) as [
    string,
  ];
  return toServer(child, Number(port));
}

/** The fixture `demo`, over HTTP. */
export async function startDemoFixture(): Promise<ServerProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, [...NODE, FIXTURE, 'demo', '--port', String(port)], { cwd: ROOT });
  const server = toServer(child, port);
  await until('the demo fixture to listen', () => child.exitCode === null && isListening(port));
  return server;
}

/** A server on stdio: `storm`, or the fixture `demo`. */
export function spawnStdio(which: 'storm' | 'demo', args: string[] = []): ChildProcess {
  const script = which === 'storm' ? [STORM, '--stdio'] : [FIXTURE, 'demo', '--stdio'];
  return spawn(process.execPath, [...NODE, ...script, ...args], { cwd: ROOT, stdio: ['pipe', 'pipe', 'pipe'] });
}

function toServer(child: ChildProcess, port: number): ServerProcess {
  let complaints = '';
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (complaints += chunk));
  const stop = async (): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill('SIGTERM');
    await within('the server process to exit', once(child, 'exit'));
    return child.exitCode;
  };
  return {
    child,
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    complaints: () => complaints,
    stop,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function died(child: ChildProcess): Promise<never> {
  let complaints = '';
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (complaints += chunk));
  await once(child, 'exit');
  throw new Error(`the server died: ${complaints}`);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
}
