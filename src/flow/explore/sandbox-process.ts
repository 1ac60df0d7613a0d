// A process for code that must not act: files, the network, other processes, timers and native code throw there before they do anything, and
// Node itself allows it no write and no child. What runs in it calls `createSandbox` first.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** `entry`: a built file of this package, since Node has to load it by itself. */
export function forkSandbox(entry: string, args: readonly string[]): { child: ChildProcess; complaint: () => string } {
  const root = dirname(createRequire(import.meta.url).resolve('mcp-parley/package.json'));
  const child = fork(join(root, 'dist', entry), args, {
    execArgv: [...permissionFlags(), '--no-addons', '--no-warnings', '--max-old-space-size=512'],
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'json',
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
  return { child, complaint: () => lastLine(said) };
}

/** Should a way out have been forgotten, most of them are closed by Node as well. */
function permissionFlags(): string[] {
  const flag = ['--permission', '--experimental-permission'].find((name) =>
    process.allowedNodeEnvironmentFlags.has(name),
  );
  return flag === undefined ? [] : [flag, '--allow-fs-read=*'];
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) || 'its process ended';
}
