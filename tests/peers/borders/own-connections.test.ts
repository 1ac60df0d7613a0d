// On its own connection a client is known to the server by name and gets its pings. A shared connection belongs to the gateway.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { within } from '../../helpers/until.ts';
import { Opened, TRANSPORTS, address, gatewayTo, toTransport } from './helpers/direct-and-through.ts';

const ASKABLE = { elicitation: {}, roots: { listChanged: true }, 'x-capability': { a: 1 } };
const OPENING = { 'x-opening': { a: [1, null] }, _meta: { 'acme/opening': { n: 1 } } };

/** A client that opens with members of its own, which no option of the SDK lets it say. */
async function open(opened: Opened, transport: any, name: string, capabilities: any = ASKABLE) {
  const send = transport.send.bind(transport);
  transport.send = (message: any, options: any) => {
    const isOpening = message.method === 'initialize';
    return send(isOpening ? { ...message, params: { ...message.params, ...OPENING } } : message, options);
  };
  const client = new Client({ name, version: '7', title: `The ${name}` }, { capabilities });
  const pings: unknown[] = [];
  client.setRequestHandler(types.PingRequestSchema, ({ params }) => {
    pings.push(params?._meta);
    return {};
  });
  await within('the client to connect', client.connect(transport));
  opened.add(client, () => client.close());
  const call = async (tool: string, args = {}): Promise<any> => {
    const result: any = await client.callTool({ name: tool, arguments: args }, undefined, { timeout: 120_000 });
    return JSON.parse(result.content[0].text);
  };
  return { client, call, pings };
}

const withoutVia = ({ _meta: { 'mcp-parley/via': _, ...meta }, ...opening }: any) => ({ ...opening, _meta: meta });

describe.each(TRANSPORTS)('over %s', (transport) => {
  test("a server on a client's own connection gets the name, capabilities and everything else that the client declared", async () => {
    await using opened = new Opened();
    const at = await address(opened, 'moody-v1', transport);
    const direct = await open(opened, toTransport(at), 'first');
    const connect = await gatewayTo(opened, { moody: at }, transport, { share: 'session' });
    const first = await open(opened, connect(), 'first');
    await first.client.listTools();
    const told = withoutVia(await first.call('told'));
    expect(told).toEqual(await direct.call('told'));
    expect(told).toMatchObject({ clientInfo: { name: 'first' }, capabilities: ASKABLE, ...OPENING });
    // Also those that come later, with other clients there.
    const second = await open(opened, connect(), 'second');
    await second.client.listTools();
    expect(await second.call('told')).toMatchObject({ clientInfo: { name: 'second' }, ...OPENING });
    expect(await first.call('told')).toMatchObject({ clientInfo: { name: 'first' } });
  });

  test('the first client has a connection in its own name, also where later ones share', async () => {
    await using opened = new Opened();
    const connect = await gatewayTo(opened, { moody: await address(opened, 'moody-v1', transport) }, transport);
    const first = await open(opened, connect(), 'first', { elicitation: {} });
    expect(await first.call('told')).toMatchObject({ clientInfo: { name: 'first' }, ...OPENING });
    const second = await open(opened, connect(), 'second', { elicitation: {} });
    const { clientInfo } = await second.call('told');
    expect(clientInfo.name).toBe(transport === 'stdio' ? 'mcp-parley' : 'second');
    expect(await first.call('told')).toMatchObject({ clientInfo: { name: 'first' }, ...OPENING });
  });

  test('a shared server gets the name of the gateway', async () => {
    await using opened = new Opened();
    const connect = await gatewayTo(opened, { moody: await address(opened, 'moody-v1', transport) }, transport);
    const [one, other] = [await open(opened, connect(), 'one', {}), await open(opened, connect(), 'other', {})];
    for (const { call } of [one, other]) {
      const { clientInfo, 'x-opening': none, _meta } = await call('told');
      expect(clientInfo.name).toBe('mcp-parley');
      expect([none, _meta['acme/opening']]).toEqual([undefined, undefined]);
    }
    expect(await one.call('ping')).toEqual({});
    expect(one.pings).toEqual([]);
  });

  test('a ping reaches the client that has the server to itself', async () => {
    await using opened = new Opened();
    const connect = await gatewayTo(opened, { moody: await address(opened, 'moody-v1', transport) }, transport);
    const { call, pings } = await open(opened, connect(), 'first');
    expect(await call('ping')).toEqual({});
    expect(pings).toEqual([expect.objectContaining({ 'acme/ping': 1 })]);
  });
});

test('a ping reaches a client that has no stream open but that of its call', async () => {
  await using opened = new Opened();
  const connect = await gatewayTo(opened, { moody: await address(opened, 'moody-v1', 'stdio') }, 'http');
  const transport = connect();
  const { fetch } = globalThis;
  transport._fetch = async (url: string, init: any) =>
    init?.method === 'GET' ? new Response(null, { status: 405 }) : fetch(url, init);
  const { call, pings } = await open(opened, transport, 'first');
  expect(await call('ping')).toEqual({});
  expect(pings).toHaveLength(1);
});
