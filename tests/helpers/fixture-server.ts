// Starts the small misbehaving servers of tests/fixtures/servers and connects clients to them. Everything is
// disposable, and disposing checks that nothing is left behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect, createLog } from 'mcp-parley';
import type { Address, Client, ConnectOptions } from 'mcp-parley';
import { ROOT } from './files.ts';
import { until, within } from './until.ts';
import type { CommandAddress } from '../../src/mcp/connect/address.ts';

const QUIET: ConnectOptions = { log: createLog({ level: 'silent' }) };

/** The command of a fixture on stdio. `gc` lets it collect garbage on request. */
export function fixture(name: string, args: string[] = [], { gc = false, env = {} } = {}): CommandAddress {
  const program = join(ROOT, 'tests', 'fixtures', 'servers', `${name}.mjs`);
  return { command: process.execPath, args: [...(gc ? ['--expose-gc'] : []), program, ...args], cwd: ROOT, env };
}

export interface HttpFixture extends AsyncDisposable {
  url: string;
  port: number;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a fixture that listens on HTTP, and waits for its URL. */
export async function startHttp(address: CommandAddress): Promise<HttpFixture> {
  const child = spawn(address.command, address.args ?? [], {
    cwd: ROOT,
    env: { ...process.env, ...address.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await within('the URL of a fixture', once(createInterface({ input: child.stdout }), 'line'))) as [
    string,
  ];
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  return { url, port: Number(new URL(url).port), pid: child.pid!, stop, [Symbol.asyncDispose]: stop };
}

/** Connects with short timeouts and a silent log; closing must end. */
export async function connected(address: Address, options: ConnectOptions = {}): Promise<Client> {
  return within('connect', connect(address, { ...QUIET, probeMs: 2000, ...options }));
}

/** What `connect` rejects with. */
export async function refusal(address: Address, options: ConnectOptions = {}): Promise<Error & { code: unknown }> {
  const outcome = await within(
    'connect to fail',
    connect(address, { ...QUIET, ...options }).then(undefined, (error: unknown) => error),
  );
  if (outcome instanceof Error) return outcome as Error & { code: unknown };
  throw new Error('connect did not fail');
}

export async function textOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await within(`the call of ${name}`, client.callTool(name, args));
  const [block] = content;
  return block?.type === 'text' ? block.text : '';
}

/** Waits until these processes are gone; zombies count as gone. */
export async function untilGone(pids: number[]): Promise<void> {
  for (const pid of pids) await until(`process ${pid} to be gone`, () => !isRunning(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false; // no such process, or it ended in between
  }
}

/** The current child processes. */
export function childrenOfThis(): string[] {
  return childrenOf(process.pid);
}

export function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}
