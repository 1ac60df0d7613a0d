// Three gateways on three hosts, each a network namespace with an address of its own, and one host whose cable is cut while its gateway goes on.
// Needs root and iproute2; skipped with a line where that is not allowed.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { send } from '../helpers/http-wire.ts';
import { HttpSession, openSession } from '../helpers/mcp-http.ts';
import { DEMO_FIXTURE, Home } from '../helpers/parley.ts';
import { startRedis } from '../helpers/redis-server.ts';
import { until } from '../helpers/until.ts';

const HOSTS = [0, 1, 2];
/** Of this process, so that two runs on one machine do not meet. */
const TAG = `p${process.pid % 100_000}`;
const NET = `10.${200 + (process.pid % 50)}.${process.pid % 250}`;

const ip = (...args: string[]): boolean => spawnSync('ip', args, { stdio: 'ignore' }).status === 0;
const nameOf = (host: number): string => `${TAG}h${host}`;
const urlOf = (host: number): string => `http://${NET}.${host + 2}:8470/mcp`;

function mayMakeHosts(): boolean {
  const may = process.platform === 'linux' && ip('netns', 'add', `${TAG}try`) && ip('netns', 'del', `${TAG}try`);
  if (!may) console.warn('skipped: this machine allows no network namespaces (root, and apt-get install iproute2)');
  return may;
}

class Hosts implements AsyncDisposable {
  readonly #homes: Home[] = [];
  readonly #gateways: ChildProcess[] = [];

  constructor() {
    const must = (...args: string[]): void => {
      if (!ip(...args)) throw new Error(`ip ${args.join(' ')}`);
    };
    must('link', 'add', TAG, 'type', 'bridge');
    must('addr', 'add', `${NET}.1/24`, 'dev', TAG);
    must('link', 'set', TAG, 'up');
    for (const host of HOSTS) {
      const [name, cable] = [nameOf(host), `${TAG}v${host}`];
      must('netns', 'add', name);
      must('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      must('link', 'set', cable, 'master', TAG, 'up');
      must('-n', name, 'addr', 'add', `${NET}.${host + 2}/24`, 'dev', 'eth0');
      must('-n', name, 'link', 'set', 'eth0', 'up');
      must('-n', name, 'link', 'set', 'lo', 'up');
    }
  }

  serve(host: number, config: object): void {
    const home = new Home();
    this.#homes.push(home);
    const file = home.write('parley.config.json', {
      ...config,
      cluster: { listen: 8471, advertise: `http://${NET}.${host + 2}:8471` },
    });
    const { command, args = [], cwd, env } = home.address(['serve', file, '--open']);
    this.#gateways.push(spawn('ip', ['netns', 'exec', nameOf(host), command, ...args], { cwd, env, stdio: 'ignore' }));
  }

  /** The gateway there goes on, and reaches nobody. */
  setCable(host: number, state: 'up' | 'down'): void {
    expect(ip('link', 'set', `${TAG}v${host}`, state)).toBe(true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const gateway of this.#gateways) {
      const gone = once(gateway, 'exit');
      gateway.kill('SIGKILL');
      await gone;
    }
    for (const host of HOSTS) {
      ip('link', 'del', `${TAG}v${host}`);
      ip('netns', 'del', nameOf(host));
    }
    ip('link', 'del', TAG);
    for (const home of this.#homes) home[Symbol.dispose]();
  }
}

it.runIf(mayMakeHosts())(
  'a host that is cut off loses its session to another one, and owns it no longer when it is back',
  async () => {
    await using redis = await startRedis({ bind: '0.0.0.0', 'protected-mode': 'no' });
    await using hosts = new Hosts();
    const [command, ...args] = DEMO_FIXTURE;
    const config = {
      mcpServers: { demo: { command, args } },
      listen: { host: '0.0.0.0', port: 8470 },
      publicUrl: `http://${NET}.1:8470`,
      keys: ['a key that all hosts of this test share'],
      state: `redis://${NET}.1:${redis.port}`,
    };
    for (const host of HOSTS) hosts.serve(host, config);
    const isReady = async (host: number): Promise<boolean> =>
      (await fetch(new URL('/readyz', urlOf(host))).catch(() => undefined))?.ok === true;
    for (const host of HOSTS) await until(`host ${host} to be ready`, () => isReady(host));

    const session = await openSession(urlOf(0));
    const at = (host: number): HttpSession => new HttpSession(urlOf(host), session.headers);
    const lists = async (host: number): Promise<boolean> => {
      const { status, json } = await at(host).request('tools/list');
      return status === 200 && Array.isArray(json.result?.tools);
    };
    for (const host of HOSTS) await until(`the session at host ${host}`, () => lists(host));

    hosts.setCable(0, 'down');
    await until('the session at another host', () => lists(1));
    expect(await lists(2)).toBe(true);

    hosts.setCable(0, 'up');
    await until('the host that was cut off to pass it on', () => lists(0));
    expect((await at(1).delete()).status).toBe(204);
    for (const host of HOSTS) {
      const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
      await until(`the session to be gone at host ${host}`, async () => {
        const { status } = await send(urlOf(host), { headers: session.headers, body });
        return status === 404;
      });
    }
  },
);
