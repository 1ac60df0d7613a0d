// Starts a sandboxed process: files, the network, other processes, timers and native code throw before they act, and Node itself allows no
// writes and no child processes. Code in it must call `createSandbox` first.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** `entry`: a built file of this package, as Node must load it without help. */
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

/** A second line of defence, should an API be missing from the blocked ones. */
function permissionFlags(): string[] {
  const flag = ['--permission', '--experimental-permission'].find((name) =>
    process.allowedNodeEnvironmentFlags.has(name),
  );
  return flag === undefined ? [] : [flag, '--allow-fs-read=*'];
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) || 'its process ended';
}
