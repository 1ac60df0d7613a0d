// Replays open sessions against a file of new code, in a sandboxed process.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { GatewayError } from '../../kernel/base/errors.ts';
import { SandboxProcess } from '../explore/sandbox-process.ts';
import type { StoredSession } from '../store/store.ts';
import type { ReplayVerdict } from './replay-verdict.ts';

const TIMEOUT_MS = 30_000;
const WORDS = { ended: 'could not be replayed', late: `took longer than ${TIMEOUT_MS} ms` };

export class ReplayFile implements AsyncDisposable {
  readonly #process: SandboxProcess;
  readonly #flows: ReadonlySet<string>;

  private constructor(sandboxed: SandboxProcess, flows: readonly string[]) {
    this.#process = sandboxed;
    this.#flows = new Set(flows);
  }

  static async open(file: string): Promise<ReplayFile> {
    const path = resolve(file);
    if (!existsSync(path)) throw new GatewayError('BAD_OPTION', { option: file, reason: 'there is no such file' });
    const sandboxed = new SandboxProcess('flow/operator/replay-child.js', path);
    try {
      const { flows } = (await sandboxed.report(TIMEOUT_MS, WORDS)) as { flows: string[] };
      return new ReplayFile(sandboxed, flows);
    } catch (thrown) {
      sandboxed.kill();
      throw thrown;
    }
  }

  get name(): string {
    return this.#process.file;
  }

  has(flow: string): boolean {
    return this.#flows.has(flow);
  }

  /** Call it for one session at a time. Rejects if the code does I/O outside of a step, and says where. */
  async verdict(stored: StoredSession): Promise<ReplayVerdict> {
    this.#process.send(stored);
    const { verdict } = (await this.#process.report(TIMEOUT_MS, WORDS)) as { verdict: ReplayVerdict };
    return verdict;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill();
  }
}
