// A sandboxed process for the flows of a file: files, the network, other processes, timers and native code throw before they act, and Node
// itself allows no writes and no child processes. Code in it must call `enterSandbox` first.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { SandboxViolation } from './sandbox.ts';

/** What the process reports if it cannot do its work. */
export type SandboxFailure = { violation: SandboxViolation } | { failed: string };

export class SandboxProcess {
  /** The file as errors name it. */
  readonly file: string;
  readonly #child: ChildProcess;
  #said = '';

  /** `entry`: a built file of this package, as Node must load it without help. */
  constructor(entry: string, path: string) {
    this.file = relative(process.cwd(), path);
    const root = dirname(createRequire(import.meta.url).resolve('mcp-parley/package.json'));
    this.#child = fork(join(root, 'dist', entry), [path], {
      execArgv: [...permissionFlags(), '--no-addons', '--no-warnings', '--max-old-space-size=512'],
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'json',
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.#said = (this.#said + chunk.toString()).slice(-2000)));
  }

  send(message: object): void {
    this.#child.send(message);
  }

  /** The next report. Rejects with the position if the code uses a blocked API; nothing has happened then. */
  async report(timeoutMs: number, words: { ended: string; late: string }): Promise<object> {
    const report = await this.#next(timeoutMs, words);
    if ('failed' in report) throw new GatewayError('BAD_OPTION', { option: this.file, reason: report.failed });
    if (!('violation' in report)) return report;
    const { what, where } = report.violation;
    throw new GatewayError('FLOW_REACHES_OUT', { file: this.file, what, where: where.replaceAll('file://', '') });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #next(timeoutMs: number, { ended, late }: { ended: string; late: string }): Promise<object | SandboxFailure> {
    const stop = new AbortController();
    const { signal } = stop;
    try {
      return await Promise.race([
        once(this.#child, 'message', { signal }).then(([report]) => report as object),
        once(this.#child, 'close', { signal }).then(() => ({ failed: `${ended}: ${lastLine(this.#said)}` })),
        sleep(timeoutMs, { failed: late }, { signal }),
      ]);
    } catch (error) {
      return { failed: (error as Error).message };
    } finally {
      stop.abort();
    }
  }
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
