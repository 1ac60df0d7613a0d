// A pseudo-terminal in which a command runs and keys are pressed.
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { ROOT } from './files.ts';
import { until, within } from './until.ts';

export class Terminal implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<unknown>;
  #all = '';
  #from = 0;

  constructor(line: string, env: Record<string, string | undefined>, { columns = 100, rows = 40 } = {}) {
    this.#child = spawn('script', ['-qec', `stty cols ${columns} rows ${rows}; ${line}`, '/dev/null'], {
      env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
      cwd: ROOT,
    });
    this.#closed = once(this.#child, 'close');
    this.#child.stdout.setEncoding('utf8').on('data', (chunk: string) => (this.#all += chunk));
  }

  /** The output since the last key press. */
  get shown(): string {
    return this.#all.slice(this.#from);
  }

  /** All output. */
  get all(): string {
    return this.#all;
  }

  async sees(words: string): Promise<void> {
    const seen = until(`${words} on the terminal`, () => this.shown.includes(words));
    await seen.catch((cause: unknown) => {
      throw new Error(`${(cause as Error).message}, which shows ${this.shown}`, { cause });
    });
  }

  async types(keys: string, words: string): Promise<void> {
    this.#from = this.#all.length;
    this.#child.stdin.write(keys);
    await this.sees(words);
  }

  async status(): Promise<number | null> {
    await within('the end', this.#closed);
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }
}
