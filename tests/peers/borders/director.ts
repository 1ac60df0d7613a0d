// Decides when the tools of servers/asks.mjs continue, and receives their reports. One director serves all processes of a
// gateway.
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { within } from '../../helpers/until.ts';

export class Director implements AsyncDisposable {
  /** Steps that nobody is to be stopped at. */
  passes: (step: string) => boolean = (step) => step.endsWith(' answered');
  readonly heard: { step: string; about: string; pid: number }[] = [];
  readonly #server: Server;
  readonly #waiting = new Map<string, () => void>();
  readonly #lookers = new Set<() => void>();

  constructor() {
    this.#server = createServer((request, response) => {
      const { searchParams } = new URL(request.url!, 'http://localhost');
      const [step = '', about = '', pid] = ['step', 'about', 'pid'].map((name) => searchParams.get(name) ?? '');
      this.heard.push({ step, about, pid: Number(pid) });
      if (this.passes(step)) response.end();
      else this.#waiting.set(step, () => response.end());
      for (const look of this.#lookers) look();
    });
  }

  static async start(): Promise<Director> {
    const director = new Director();
    await new Promise<void>((resolve) => director.#server.listen(0, '127.0.0.1', resolve));
    return director;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Waits until a tool has come to a step. */
  async reached(step: string): Promise<{ about: string; pid: number }> {
    const found = () => this.heard.findLast((one) => one.step === step);
    await within(
      `the step “${step}”`,
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (!found()) return;
          this.#lookers.delete(look);
          resolve();
        };
        this.#lookers.add(look);
        look();
      }),
    );
    return found()!;
  }

  /** Lets a tool go on that has come, or will come, to a step. */
  async release(step: string): Promise<void> {
    await this.reached(step);
    this.go(step);
  }

  /** Lets a tool go on if it waits at a step just now. */
  go(step: string): void {
    this.#waiting.get(step)?.();
    this.#waiting.delete(step);
  }

  releaseAll(): void {
    this.passes = () => true;
    for (const go of this.#waiting.values()) go();
    this.#waiting.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.releaseAll();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
