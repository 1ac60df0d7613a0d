// Runs the built `parley` command as a process with its own home folder.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach } from 'vitest';
import { MAIN } from './built.ts';
import { ROOT } from './files.ts';
import { removeFolder } from './remove-folder.ts';
import { until, within } from './until.ts';
import type { CommandAddress } from '../../src/mcp/connect/address.ts';

/** Servers to put behind it. */
export const EXTERNAL: string[] = [process.execPath, join(ROOT, 'tests', 'acceptance', 'external-server.mjs')];
export const DEMO_FIXTURE: string[] = [
  process.execPath,
  join(ROOT, 'tests', 'acceptance', 'fixture.mjs'),
  'demo',
  '--stdio',
];
/** The same, as an entry of a configuration. */
export const WEATHER: { command: string; args: string[] } = { command: EXTERNAL[0]!, args: EXTERNAL.slice(1) };
export const PARLEY_DEMO: string[] = [process.execPath, MAIN, 'demo', '--stdio'];

/** A folder for one test file: home, state, configuration and working folder of the commands it runs. */
export class Home implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), 'parley-cli-'));
  readonly #cwd: string;

  /** `cwd`: another working folder. */
  constructor(cwd?: string) {
    this.#cwd = cwd ?? this.path;
  }

  write(name: string, content: string | object): string {
    const path = join(this.path, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2));
    return path;
  }

  /** `main`: of another build. */
  start(args: string[], env: Record<string, string> = {}, main: string = MAIN): Parley {
    return new Parley(args, { cwd: this.#cwd, env: { ...this.#env, ...env } }, main);
  }

  /** The command line for starting it as a server. */
  address(args: string[]): CommandAddress {
    return { command: process.execPath, args: [MAIN, ...args], cwd: this.#cwd, env: this.#env };
  }

  /** Runs the command to its end with this input. */
  async run(args: string[], input = '', env: Record<string, string> = {}): Promise<Ended> {
    await using parley = this.start(args, env);
    parley.child.stdin!.end(input);
    const status = await parley.ended();
    return { status, stdout: parley.stdout, stderr: parley.stderr };
  }

  [Symbol.dispose](): void {
    // A process of a test that is just ending may still write its last lines there.
    removeFolder(this.path);
  }

  get #env(): Record<string, string> {
    const { PATH = '', SYSTEMROOT = '' } = process.env;
    const { path } = this;
    const own = { HOME: path, XDG_STATE_HOME: join(path, 'state'), XDG_CONFIG_HOME: join(path, 'config') };
    // The test wrote the files that it runs. Tests of trust say `{ PARLEY_TRUST: '' }`.
    return { PATH, SYSTEMROOT, ...own, PARLEY_TRUST: [path, this.#cwd, ROOT].join(delimiter) };
  }
}

export interface Homes {
  newHome: () => Home;
  start: (home: Home, args: string[], env?: Record<string, string>) => Parley;
}

/** For a test file: disposes everything that a test creates when the test ends. */
export function homesOfTests(): Homes {
  const homes: Home[] = [];
  const running: Parley[] = [];
  afterEach(async () => {
    for (const one of running.splice(0)) await one[Symbol.asyncDispose]();
    for (const home of homes.splice(0)) home[Symbol.dispose]();
  });
  return {
    newHome() {
      const home = new Home();
      homes.push(home);
      return home;
    },
    start(home, args, env) {
      const parley = home.start(args, env);
      running.push(parley);
      return parley;
    },
  };
}

export interface Ended {
  status: number | string;
  stdout: string;
  stderr: string;
}

export class Parley implements AsyncDisposable {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  /** Fulfilled when it has ended and all its output has arrived. */
  readonly #closed: Promise<unknown>;

  constructor(args: string[], options: { cwd: string; env: Record<string, string> }, main: string = MAIN) {
    this.child = spawn(process.execPath, [main, ...args], { ...options, stdio: 'pipe' });
    this.#closed = once(this.child, 'close');
    this.child.stdin!.on('error', () => {}); // the process may end before it has read everything
    this.child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (this.stdout += chunk));
    this.child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (this.stderr += chunk));
  }

  /** Waits for text on stdout or stderr. */
  async says(words: string | RegExp): Promise<RegExpExecArray> {
    const pattern = typeof words === 'string' ? new RegExp(words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')) : words;
    return until(`${String(words)} from parley`, () => {
      const found = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (!found && this.child.exitCode !== null) throw new Error(`it ended: ${this.stdout}${this.stderr}`);
      return found;
    });
  }

  /** The URL it prints when it listens. */
  async url(): Promise<string> {
    return (await this.says(/http:\/\/\S+?\/mcp/))[0];
  }

  /** The lines of its log; an incomplete last line is ignored. */
  logged(event: string): Record<string, unknown>[] {
    const lines = this.stderr
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line['event'] === event);
  }

  /** Its exit status, or the signal that ended it. */
  async ended(): Promise<number | string> {
    const { child } = this;
    await within(`the end of parley; it said: ${this.stderr}`, this.#closed);
    return child.exitCode ?? child.signalCode!;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
    this.child.kill(signal);
    return this.ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#closed;
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
