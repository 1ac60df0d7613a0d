// As a Gateway, but several processes of `parley serve` that serve as one, behind a proxy that sends each request to the next of them.
import { freePort } from '../conformance/harness/ports.mjs';
import { startRedis } from '../replicas/processes.mjs';
import { RoundRobin } from '../replicas/round-robin.mjs';
import { Gateway } from './gateway.mjs';

const SHARED = { keys: ['a key that all replicas of a run share'] };

export class ReplicatedGateway {
  #build;
  #how;
  #gateways = [];
  #targets = [];
  #proxy = new RoundRobin(() => this.#targets);
  #redis;
  #starting;
  #clusters = [];

  constructor(build, { address, config, env }) {
    this.#build = build;
    this.#how = { config: config ?? { mcpServers: { one: address }, ask: { channels: [] } }, env };
  }

  get log() {
    return this.#gateways.map(({ log }) => log).join('');
  }

  /** Not for clients on stdio: each of them has a gateway of its own. */
  async wayOf(transport) {
    const { host } = new URL(await (this.#starting ??= this.#start()));
    return {
      transport,
      url: `${transport === 'ws' ? 'ws' : 'http'}://${host}/${transport === 'http' ? 'mcp' : transport}`,
    };
  }

  configure(config) {
    this.#gateways.forEach((gateway, at) => gateway.configure({ ...config, ...this.#clusters[at] }));
  }

  async says(words) {
    await Promise.all(this.#gateways.map((gateway) => gateway.says(words)));
  }

  async close() {
    this.#proxy.close();
    await Promise.all(this.#gateways.map((gateway) => gateway.close()));
    await this.#redis?.close();
  }

  async #start() {
    const publicUrl = await this.#proxy.listen();
    this.#redis = await startRedis();
    for (let n = 0; n < this.#build.replicas; n++) {
      const internal = await freePort();
      const cluster = { listen: internal, host: '127.0.0.1', advertise: `http://127.0.0.1:${internal}` };
      this.#clusters.push({ ...SHARED, publicUrl, state: this.#redis.url, cluster });
    }
    const { config, env } = this.#how;
    this.#gateways = this.#clusters.map(
      (own) => new Gateway(this.#build.dist, { config: { ...config, ...own }, ...(env && { env }) }),
    );
    const ways = await Promise.all(this.#gateways.map((gateway) => gateway.wayOf('http')));
    this.#targets = ways.map(({ url }) => new URL(url).origin);
    return publicUrl;
  }
}
