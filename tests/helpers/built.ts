// Runs the built `parley` command as a process.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from './files.ts';

export const MAIN: string = join(ROOT, 'dist', 'cli', 'main.js');

/** Runs the command to its end. */
export function parley(args: string[], input = ''): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    input,
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status, stdout, stderr };
}

/** Starts `parley demo` on a free port and waits until it has printed everything. */
export async function startDemo(args: string[] = ['--port', '0']): Promise<Demo> {
  const child = spawn(process.execPath, [MAIN, 'demo', ...args]);
  let said = '';
  let complained = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (complained += chunk));
  const deadline = Date.now() + 20_000;
  while (!/-d '.*'\n$/.test(said)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`demo is not up: ${said}${complained}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const url = /http:\/\/\S+\/mcp/.exec(said)![0];
  return { child, said, url, port: Number(new URL(url).port), end: (signal) => end(child, signal) };
}

export interface Demo {
  child: ChildProcessWithoutNullStreams;
  said: string;
  url: string;
  port: number;
  /** Resolves with the exit status or the signal. */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

async function end(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): Promise<number | string> {
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(10_000) });
  child.kill(signal);
  const [status, by] = (await exited) as [number | null, string | null];
  return status ?? by!;
}
