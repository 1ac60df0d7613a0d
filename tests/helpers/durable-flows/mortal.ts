// Keeps a mortal server running on one port by restarting it after each death.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { ROOT } from '../files.ts';
import { freePort } from '../server-process.ts';
import { within } from '../until.ts';
import type { PostgresStoreOptions } from '../../../src/flow/store/postgres/postgres.ts';
import type { RedisStoreOptions } from '../../../src/flow/store/redis/redis.ts';
import type { SqliteOptions } from '../../../src/flow/store/sqlite/sqlite.ts';
import { removeFolder } from '../remove-folder.ts';
import { readHits } from './killer.ts';
import type { Death, Hits } from './killer.ts';

export interface Place {
  sqlite?: SqliteOptions;
  redis?: RedisStoreOptions;
  postgres?: PostgresStoreOptions;
}

export interface MortalOptions {
  place: Place;
  port: number;
  /** The file that records the deaths. */
  deaths: string;
  death?: Death | undefined;
}

export class Mortal implements AsyncDisposable {
  readonly url: string;
  readonly #program: string;
  readonly #options: MortalOptions;
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  #up: Promise<void>;
  #down: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** The command for each later process. */
  #next: () => Death = () => ({});

  constructor(program: string, options: MortalOptions, env: Record<string, string>) {
    this.#program = program;
    this.#options = options;
    this.#env = { ...process.env, ...env };
    this.url = `http://127.0.0.1:${options.port}/mcp`;
    this.#up = this.#start();
  }

  /** Resolves when the server listens. */
  get up(): Promise<void> {
    return this.#up;
  }

  /** Resolves when the current process has died. */
  async down(): Promise<void> {
    await this.#up;
    await this.#down;
  }

  /** Where its processes died, in order. */
  get deaths(): Hits[] {
    return readHits(this.#options.deaths);
  }

  /** Makes this process die; later ones live, unless `next` says otherwise. */
  async arm(death: Death, next: () => Death = () => ({})): Promise<void> {
    this.#next = next;
    await this.#up;
    await this.#ask(death);
  }

  /** Tells this process how many plays are not over yet. One that dies meanwhile need not know; the next one is told when it starts. */
  goOn(playing: number): void {
    this.#child!.send(playing, () => {});
  }

  /** What was passed since it was armed. */
  async passed(): Promise<Hits> {
    await this.#up;
    return (await this.#ask('passed')) as Hits;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#up.catch(() => {});
    const child = this.#child!;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Undefined if the process dies before it answers: the next one was told when it started. */
  async #ask(what: Death | 'passed'): Promise<unknown> {
    const answer = once(this.#child!, 'message').then(([told]) => told as unknown);
    const died = this.#down.then(() => this.#up);
    this.#child!.send(what, () => {});
    return within('the answer of the server', Promise.race([answer, died]));
  }

  async #start(): Promise<void> {
    const options: MortalOptions = { ...this.#options, death: this.#next() };
    const child = fork(this.#program, [JSON.stringify(options)], { env: this.#env, execArgv: [] });
    this.#child = child;
    const exit = once(child, 'exit');
    this.#down = exit;
    const exited = exit.then(([code]) => {
      if (code !== null) throw new Error(`the server ended by itself, with ${code}`);
      if (!this.#closed) this.#up = this.#start();
      return this.#up;
    });
    const ready = once(child, 'message').then(() => {});
    exited.catch(() => {});
    await within('the server to listen', Promise.race([ready, exited]));
  }
}

/** Bundles the program into one file that Node runs directly. */
export async function bundleMortal(): Promise<{ program: string } & Disposable> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-mortal-'));
  const entry = (name: string): string => pathToFileURL(join(ROOT, 'dist', '_entries', `${name}.js`)).href;
  const bundle = await rolldown({
    input: join(ROOT, 'tests/helpers/durable-flows/mortal-server.ts'),
    platform: 'node',
    external: /^mcp-parley/,
  });
  const program = join(folder, 'server.mjs');
  const paths = { 'mcp-parley': entry('index'), 'mcp-parley/flow': entry('flow') };
  await bundle.write({ file: program, format: 'es', paths });
  return { program, [Symbol.dispose]: () => removeFolder(folder) };
}

export async function startMortal(
  program: string,
  { place, folder, env }: { place: Place; folder: string; env: Record<string, string> },
): Promise<Mortal> {
  const mortal = new Mortal(program, { place, port: await freePort(), deaths: join(folder, 'deaths.log') }, env);
  await mortal.up;
  return mortal;
}
