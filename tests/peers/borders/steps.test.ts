// Examples of steps: tools per user, failover to another server, the first of two answers, answers to sampling.
import { join } from 'node:path';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { afterEach, expect, test } from 'vitest';
import { createGateway, createLog, createServer, respond } from '../../../src/_entries/index.ts';
import type { GatewayOptions, JsonObject, Step } from '../../../src/_entries/index.ts';
import { mapTools, onCall, perClient } from '../../../src/_entries/middleware.ts';
import { ROOT } from '../../helpers/files.ts';

const log = createLog({ level: 'silent' });
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

function serverOf(name: string, waitMs = 0) {
  const server = createServer({ name, version: '1', log });
  server.tool('where', {}, async () => {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return name;
  });
  server.tool('delete_all', {}, () => `deleted in ${name}`);
  return server;
}

async function serving(options: GatewayOptions): Promise<URL> {
  const gateway = createGateway({ log, ...options });
  open.push(() => gateway.close());
  return new URL((await gateway.listen({ port: 0 })).url);
}

async function clientsFor(url: URL, user = 'ann'): Promise<(ClientV1 | ClientV2)[]> {
  const headers = { requestInit: { headers: { 'x-user': user } } };
  const old = new ClientV1({ name: 'v1', version: '1' });
  await old.connect(new HttpV1(url, headers));
  const modern = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await modern.connect(new HttpV2(url, headers));
  open.push(() => Promise.all([old.close(), modern.close()]));
  return [old, modern];
}

function textOf({ content }: { content: { text: string }[] }): string {
  return content[0].text;
}

test('tools per user: a step for every client', async () => {
  const tools = perClient(({ principal }) =>
    mapTools((tool) => {
      if (tool.name === 'delete_all' && principal !== 'root') return undefined;
      return principal === 'root' ? { ...tool, name: `root_${tool.name}` } : tool;
    }),
  );
  const identify: GatewayOptions['identify'] = ({ headers }) => String(headers['x-user']);
  const ask = { channels: [] };
  const url = await serving({ servers: { one: serverOf('one') }, steps: [tools], identify, ask });
  for (const client of await clientsFor(url, 'ann')) {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['where']);
    const refused = await client.callTool({ name: 'delete_all', arguments: {} }).catch(String);
    expect(JSON.stringify(refused)).toContain('Unknown tool: delete_all');
  }
  for (const client of await clientsFor(url, 'root')) {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['root_where', 'root_delete_all']);
    expect(textOf(await client.callTool({ name: 'root_delete_all', arguments: {} }))).toBe('deleted in one');
  }
});

test('failover: a tool of a server that never came up is called at another, by its qualified name', async () => {
  const failover: Step = {
    name: 'failover',
    methods: ['tools/call'],
    repeats: true,
    async handle(exchange, next) {
      try {
        return await next();
      } catch (thrown) {
        const name = String(exchange.params['name']);
        if (!name.startsWith('main__')) throw thrown;
        exchange.params = { ...exchange.params, name: name.replace('main__', 'backup__') };
        return next();
      }
    },
  };
  const main = { command: 'no-such-command-of-parley' };
  const url = await serving({ servers: { main, backup: serverOf('backup') }, steps: [failover] });
  for (const client of await clientsFor(url)) {
    expect(textOf(await client.callTool({ name: 'main__where', arguments: {} }))).toBe('backup');
  }
});

test('hedging: two servers are called at once, and the first answer counts', async () => {
  const hedge = onCall(async (exchange, next, lookUp) => {
    if (exchange.params.name !== 'slow__where') return next();
    const call = (name: string): Promise<JsonObject> => lookUp('tools/call', { ...exchange.params, name });
    return respond(await Promise.any([call('slow__where'), call('quick__where')]));
  });
  const servers = { slow: serverOf('slow', 20_000), quick: serverOf('quick') };
  const url = await serving({ servers, steps: [hedge] });
  for (const client of await clientsFor(url)) {
    expect(textOf(await client.callTool({ name: 'slow__where', arguments: {} }))).toBe('quick');
  }
});

test('a function of the operator answers sampling, and an SDK v2 server that looks for the capability sees it', async () => {
  const asked: unknown[] = [];
  const standIns = {
    'sampling/createMessage': (ask: { params?: JsonObject }) => {
      asked.push(ask.params?.['messages']);
      const content = { type: 'text', text: 'by the operator' };
      return Promise.resolve({ role: 'assistant', model: 'none', content });
    },
  };
  const server = {
    command: process.execPath,
    args: [join(ROOT, 'tests', 'peers', 'servers', 'stdio.mjs'), 'v2', '/dev/null', '', '{}'],
  };
  const url = await serving({ servers: { sdk: server }, ask: { standIns } });
  for (const client of await clientsFor(url)) {
    expect(textOf(await client.callTool({ name: 'ask_model', arguments: {} }))).toBe('by the operator');
  }
  expect(asked).toHaveLength(2);
});
