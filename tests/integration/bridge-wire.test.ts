// What clients of 2025-03-26 get through a gateway, by hand on the wire, whatever era the server is of: batches, and only the areas
// that the server has.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Gateway } from 'mcp-parley';
import { send } from '../helpers/http-wire.ts';
import type { Answer } from '../helpers/http-wire.ts';
import { openSession, rpc } from '../helpers/mcp-http.ts';
import type { HttpSession } from '../helpers/mcp-http.ts';

const log = createLog({ level: 'silent' });
const version = '2025-03-26';
const notification = { jsonrpc: '2.0', method: 'notifications/unheard-of' };

describe.each(['2025-11-25', '2026-07-28'])('a server of %s that has tools alone', (revision) => {
  const server = createServer({ name: 'tools', version: '1', log });
  server.tool('echo', { input: { type: 'object', properties: { text: { type: 'string' } } } }, ({ text }) =>
    String(text),
  );
  let gateway: Gateway;
  let url: string;
  let session: HttpSession;

  beforeAll(async () => {
    const { url: at } = await server.listen({ port: 0 });
    gateway = createGateway({ servers: { tools: { server: at, revision } }, ask: { channels: [] }, log });
    ({ url } = await gateway.listen({ port: 0 }));
    session = await openSession(url, { version });
  });
  afterAll(async () => {
    await gateway.close();
    await server.close();
  });

  test('a batch is answered item by item, each by its id', async () => {
    const echo = (id: string | number) => rpc('tools/call', { name: 'echo', arguments: { text: `of ${id}` } }, id);
    const { status, text } = await session.post([echo(1), notification, echo('1'), rpc('no/such/method', {}, 2)]);
    expect(status).toBe(200);
    const answers = new Map((JSON.parse(text) as Answer[]).map((answer) => [answer.id, answer]));
    expect(answers.size).toBe(3);
    expect(answers.get(1)?.result?.content).toMatchObject([{ text: 'of 1' }]);
    expect(answers.get('1')?.result?.content).toMatchObject([{ text: 'of 1' }]);
    expect(answers.get(2)?.error).toMatchObject({ code: -32601 });
    expect((await session.post([notification])).status).toBe(202);
    const initialize = await session.post([rpc('initialize', { protocolVersion: version })]);
    expect(initialize).toMatchObject({ status: 400, json: { error: { code: -32600 } } });
  });

  test('nothing else is declared, nor answered', async () => {
    const clientInfo = { name: 'test', version: '1' };
    const { json } = await send(url, {
      body: rpc('initialize', { protocolVersion: version, capabilities: {}, clientInfo }),
    });
    expect(json.result!.capabilities).toHaveProperty('tools');
    for (const area of ['resources', 'prompts']) {
      expect(json.result!.capabilities).not.toHaveProperty(area);
      expect((await session.request(`${area}/list`)).json.error).toMatchObject({ code: -32601 });
    }
  });
});
