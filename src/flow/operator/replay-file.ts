// Replays open sessions against a file of new code, in a confined child process.
import { existsSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import { relative, resolve } from 'node:path';
import { GatewayError } from '../../shared/errors.ts';
import { forkSandbox } from '../explore/sandbox-process.ts';
import type { StoredSession } from '../store/store.ts';
import type { ReplayReport } from './replay-child.ts';
import type { ReplayVerdict } from './replay-verdict.ts';

const TIMEOUT_MS = 30_000;

export class ReplayFile implements AsyncDisposable {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #complaint: () => string;
  #names: ReadonlySet<string> = new Set();

  private constructor(path: string) {
    this.name = relative(process.cwd(), path);
    const { child, complaint } = forkSandbox('flow/operator/replay-child.js', [path]);
    this.#child = child;
    this.#complaint = complaint;
  }

  static async open(file: string): Promise<ReplayFile> {
    const path = resolve(file);
    if (!existsSync(path)) throw new GatewayError('BAD_OPTION', { option: file, reason: 'there is no such file' });
    const opened = new ReplayFile(path);
    try {
      const report = await opened.#report();
      if ('flows' in report && report.flows.length > 0) {
        opened.#names = new Set(report.flows);
        return opened;
      }
      throw opened.#toError(report);
    } catch (thrown) {
      await opened[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  has(flow: string): boolean {
    return this.#names.has(flow);
  }

  /** Call it for one session at a time. Rejects if the code does I/O outside of a step, and says where. */
  async verdict(stored: StoredSession): Promise<ReplayVerdict> {
    this.#child.send(stored);
    const report = await this.#report();
    if ('verdict' in report) return report.verdict;
    throw this.#toError(report);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
  }

  async #report(): Promise<ReplayReport> {
    const child = this.#child;
    const stop = new AbortController();
    const { signal } = stop;
    try {
      return await new Promise<ReplayReport>((done) => {
        const failed = (reason: string) => done({ failed: reason });
        const onMessage = (report: unknown) => done(report as ReplayReport);
        const onError = ({ message }: Error) => failed(message);
        const onClose = () => failed(`could not be replayed: ${this.#complaint()}`);
        child.once('message', onMessage).once('error', onError).once('close', onClose);
        const timer = setTimeout(() => failed(`took longer than ${TIMEOUT_MS} ms`), TIMEOUT_MS);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          child.off('message', onMessage).off('error', onError).off('close', onClose);
        });
      });
    } finally {
      stop.abort();
    }
  }

  #toError(report: ReplayReport): GatewayError {
    if ('violation' in report) {
      const { what, where } = report.violation;
      return new GatewayError('FLOW_REACHES_OUT', { file: this.name, what, where: where.replaceAll('file://', '') });
    }
    const reason =
      'failed' in report ? report.failed : 'exports no flow: make one with flow() of mcp-parley/flow and export it';
    return new GatewayError('BAD_OPTION', { option: this.name, reason });
  }
}
