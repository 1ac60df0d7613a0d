// Gateways as processes of a build: `parley wrap` before one server, `parley serve` before several or with a configuration.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const PATHS = { http: '/mcp', sse: '/sse', ws: '/ws' };
const DEADLINE_MS = 30_000;

/**
 * `{ wayOf(transport), close() }` for clients. Clients on stdio have a process each; the others share one.
 * `config`: `parley serve` with this configuration instead of `wrap`.
 */
export class Gateway {
  log = '';
  #build;
  #home = mkdtempSync(join(tmpdir(), 'parley-twin-'));
  #child;
  #url;
  #args;
  #env;

  constructor(build, { address, config, env = {} }) {
    this.#build = build;
    this.#args = config ? this.#serve(config) : wrap(address);
    this.#env = { ...this.#own(), ...env };
  }

  get home() {
    return this.#home;
  }

  /** The way of a client to it. */
  async wayOf(transport) {
    if (transport === 'stdio') {
      const [command, ...more] = this.#args;
      const args = [this.#main, command, ...(command === 'serve' ? [...more, '--stdio'] : more)];
      return { transport, command: process.execPath, args, env: this.#env, cwd: this.#home };
    }
    const url = new URL(await this.#listening());
    const path = PATHS[transport];
    return { transport, url: `${transport === 'ws' ? 'ws' : 'http'}://${url.host}${path}` };
  }

  /** Replaces the configuration; the gateway notices. */
  configure(config) {
    writeFileSync(join(this.#home, 'parley.config.json'), JSON.stringify(config));
  }

  /** Until it has said on stderr what fits, after what it had said before. */
  async says(words) {
    const from = this.log.length;
    const end = Date.now() + DEADLINE_MS;
    while (!words.test(this.log.slice(from))) {
      if (Date.now() > end) throw new Error(`the gateway never said ${words}: ${this.log.slice(from)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async close() {
    if (this.#child && this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      const timer = setTimeout(() => this.#child.kill('SIGKILL'), 15_000);
      await ended;
      clearTimeout(timer);
    }
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 5 });
  }

  get #main() {
    return join(this.#build, 'cli', 'main.js');
  }

  #own() {
    const { PATH = '' } = process.env;
    const home = this.#home;
    const folders = { HOME: home, XDG_STATE_HOME: join(home, 'state'), XDG_CONFIG_HOME: join(home, 'config') };
    return { PATH, ...folders, NO_COLOR: '1', PARLEY_TRUST: [home].join(delimiter) };
  }

  #serve(config) {
    this.configure(config);
    return ['serve', join(this.#home, 'parley.config.json')];
  }

  async #listening() {
    this.#url ??= this.#start();
    return this.#url;
  }

  #start() {
    const [command, ...more] = this.#args;
    const args = [this.#main, command, '--port', '0', '--open', ...more];
    const child = spawn(process.execPath, args, { env: this.#env, cwd: this.#home, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the gateway does not listen: ${this.log}`)), DEADLINE_MS);
      const hear = (chunk) => {
        this.log += chunk;
        const found = /http:\/\/\S+?\/mcp/.exec(this.log);
        if (!found) return;
        clearTimeout(timer);
        resolve(found[0]);
      };
      child.stdout.setEncoding('utf8').on('data', hear);
      child.stderr.setEncoding('utf8').on('data', hear);
      child.on('exit', (status) => {
        clearTimeout(timer);
        reject(new Error(`the gateway ended (${status}): ${this.log}`));
      });
    });
  }
}

/** Adds no tool of its own, so that lists can be the same. */
function wrap({ url, command, args }) {
  return url === undefined ? ['wrap', '--no-ask', '--', command, ...args] : ['wrap', '--no-ask', url];
}
