// A private redis-server: on a free port, with every acknowledged write on disk, in a temporary folder.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { removeFolder } from './remove-folder.ts';
import { freePort } from './server-process.ts';
import { until, within } from './until.ts';

export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Kills it, as in a crash, and restarts it on the data on disk. */
  crash(): Promise<void>;
  /** Stops it and resolves with a function that restarts it. */
  pause(): Promise<() => Promise<void>>;
  /** Halts it, so that connections stay and nothing is answered, and returns a function that lets it go on. */
  halt(): () => void;
  /** Sends commands, over a connection of their own. */
  tell(...command: [string, ...string[]]): Promise<unknown>;
}

export async function startRedis(settings: Record<string, string> = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-redis-'));
  const port = await freePort();
  const wanted = { port: String(port), bind: '127.0.0.1', dir: folder, save: '', appendonly: 'yes', ...settings };
  const all = { appendfsync: 'always', ...wanted };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  let child = await start(args);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await within('redis-server to end', gone);
  };
  const again = async (): Promise<void> => void (child = await start(args));
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    async crash() {
      await kill();
      await again();
    },
    async pause() {
      await kill();
      return again;
    },
    halt() {
      child.kill('SIGSTOP');
      return () => void child.kill('SIGCONT');
    },
    async tell(name, ...rest) {
      const client = new Redis(port, { lazyConnect: true });
      try {
        return await client.call(name, ...rest);
      } finally {
        client.disconnect();
      }
    },
    async [Symbol.asyncDispose]() {
      await kill();
      removeFolder(folder);
    },
  };
}

async function start(args: string[]): Promise<ChildProcess> {
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await until('redis-server to be ready', () => {
    if (child.exitCode !== null) throw new Error(`redis-server ended: ${said}`);
    return said.includes('Ready to accept connections');
  });
  return child;
}
