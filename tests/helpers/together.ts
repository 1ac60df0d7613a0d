// Gateways that share a state in a private Redis, each with a port and a connection of its own, and a server that all of them have.
import { createGateway, createLog, createServer, openSharedState } from 'mcp-parley';
import type { Gateway, GatewayOptions, State } from 'mcp-parley';
import type { RedisServer } from './redis-server.ts';

export const KEYS = ['a key that all nodes have'];

const log = createLog({ level: 'silent' });
let prefixes = 0;

export interface Together extends AsyncDisposable {
  /** The URLs, to be asked in turns. */
  urls: readonly string[];
  gateways: readonly Gateway[];
  states: readonly State[];
  /** The calls that reached the server. */
  effects: readonly string[];
}

/** `options`: what all gateways have, or what the n-th one has. */
export async function startTogether(
  redis: RedisServer,
  count: number,
  options: Partial<GatewayOptions> | ((n: number) => Partial<GatewayOptions>),
  prefix: string = `together${prefixes++}`,
): Promise<Together> {
  const effects: string[] = [];
  const states: State[] = [];
  const gateways: Gateway[] = [];
  const urls: string[] = [];
  for (let n = 0; n < count; n++) {
    const state = await openSharedState(redis.url, { prefix, log, keys: KEYS });
    const own = typeof options === 'function' ? options(n) : options;
    const gateway = createGateway({ servers: { one: serverWith(effects) }, log, keys: KEYS, state, ...own });
    states.push(state);
    gateways.push(gateway);
    urls.push((await gateway.listen({ port: 0 })).url);
  }
  return {
    urls,
    gateways,
    states,
    effects,
    async [Symbol.asyncDispose]() {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await Promise.all(states.map((state) => state.close()));
    },
  };
}

function serverWith(effects: string[]): ReturnType<typeof createServer> {
  const server = createServer({ name: 'one', version: '1', log });
  for (const name of ['read', 'send', 'echo'])
    server.tool(name, {}, () => {
      effects.push(name);
      return `done: ${name}`;
    });
  server.resource('private://mail', { name: 'mail' }, () => 'a letter');
  return server;
}
