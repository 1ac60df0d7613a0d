// Several built gateways as processes that serve as one, behind a proxy that sends each request to the next of them.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { RoundRobin } from '../replicas/round-robin.mjs';
import { ROOT } from './files.ts';
import { Home } from './parley.ts';
import type { Parley } from './parley.ts';
import { removeFolder } from './remove-folder.ts';
import { freePort } from './server-process.ts';
import { within } from './until.ts';

export interface Replica {
  readonly parley: Parley;
  readonly home: Home;
  /** Of its own public port; ends in /mcp. */
  readonly url: string;
  /** Of its internal port. */
  readonly internal: string;
}

interface ClusterOptions {
  redis: string;
  servers: object;
  replicas?: number;
  /** Further keys of the configuration, the same at all or those of the n-th one. */
  config?: object | ((n: number) => object);
  /** Environment variables of the n-th one. */
  env?: (n: number) => Record<string, string>;
  /** The program of the n-th one, if it is of another build. */
  main?: (n: number) => string | undefined;
  /** Callers log in, as the configuration says. */
  hasLogin?: boolean;
}

/** The gateways of a test, and one address for all of them. */
export class TestCluster implements AsyncDisposable {
  readonly replicas: Replica[] = [];
  /** Ends in /mcp. */
  url = '';
  readonly #options: ClusterOptions;
  readonly #homes: Home[] = [];
  readonly #proxy = new RoundRobin(() => this.replicas.map(({ url }) => url));

  private constructor(options: ClusterOptions) {
    this.#options = options;
  }

  static async start(options: ClusterOptions): Promise<TestCluster> {
    const cluster = new TestCluster(options);
    cluster.url = `${await cluster.#proxy.listen()}/mcp`;
    const started = Array.from({ length: options.replicas ?? 3 }, (_, n) => cluster.#start(n));
    cluster.replicas.push(...(await Promise.all(started)));
    return cluster;
  }

  /** The next request goes to this one. */
  turnTo(at: number): void {
    this.#proxy.turnTo(at);
  }

  async kill(at: number): Promise<void> {
    await this.replicas[at]!.parley.stop('SIGKILL');
  }

  /** From now on, none that is ending gets a new request. */
  watchHealth(): void {
    this.#proxy.watch();
  }

  /** A new process takes the place of one that has ended. */
  async restart(at: number): Promise<void> {
    this.replicas[at] = await this.#start(at);
  }

  async #start(at: number): Promise<Replica> {
    const home = new Home();
    this.#homes.push(home);
    const port = await freePort();
    const { redis, servers, config, env, hasLogin, main } = this.#options;
    const internal = `http://127.0.0.1:${port}`;
    home.write('parley.config.json', {
      mcpServers: servers,
      names: 'on-collision',
      listen: { port: 0 },
      publicUrl: this.url.replace(/\/mcp$/, ''),
      keys: ['a key that all replicas of this test share'],
      state: redis,
      cluster: { listen: port, host: '127.0.0.1', advertise: internal },
      ...(typeof config === 'function' ? (config as (n: number) => object)(at) : config),
    });
    const parley = home.start(hasLogin ? ['serve'] : ['serve', '--open'], env?.(at), main?.(at));
    return { parley, home, url: await parley.url(), internal };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy.close();
    await Promise.all(this.replicas.map(({ parley }) => parley[Symbol.asyncDispose]()));
    for (const home of this.#homes) home[Symbol.dispose]();
  }
}

/** A server whose tools leave a line in a file for each effect. */
export class EffectsServer implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, { port, folder }: { port: string; folder: string }) {
    this.#child = child;
    this.#folder = folder;
    this.url = `http://127.0.0.1:${port}/mcp`;
  }

  /** `flows`: the URL of the Redis for its flow. */
  static async start({ flows }: { flows?: string } = {}): Promise<EffectsServer> {
    const folder = mkdtempSync(join(tmpdir(), 'parley-effects-'));
    const env = { ...process.env, EFFECTS: join(folder, 'effects'), ...(flows && { FLOWS: flows }) };
    const script = join(ROOT, 'tests', 'fixtures', 'servers', 'effects.mjs');
    const child = spawn(process.execPath, [script], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [port] = (await within('the port', once(createInterface({ input: child.stdout }), 'line'))) as [string];
    return new EffectsServer(child, { port, folder });
  }

  /** How often each call has acted. */
  effects(): Map<string, number> {
    const counts = new Map<string, number>();
    let text = '';
    try {
      text = readFileSync(join(this.#folder, 'effects'), 'utf8');
    } catch {
      return counts; // none so far
    }
    for (const line of text.split('\n').filter(Boolean)) {
      const { id } = JSON.parse(line) as { id: string };
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
    removeFolder(this.#folder);
  }
}
