// The demo's tools, called as a client in each era would.
import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { META } from '../../../mcp/eras/meta.ts';
import { STATELESS } from '../../../mcp/eras/stateless/revisions.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { ParleyServer } from '../../../sdk/server/create-server.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { createDemoServer } from './demo-server.ts';

let server: ParleyServer | undefined;
afterEach(() => server?.close());

async function open() {
  server = createDemoServer({ version: '0', log: createLog({ level: 'silent' }) });
  const [input, output] = [new PassThrough(), new PassThrough()];
  await server.listen({ stdio: true, input, output });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  let id = 0;
  const send = (method: string, params: JsonObject) =>
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
  const next = async () => JSON.parse((await lines.next()).value as string) as { result: JsonObject; method?: string };
  return { send, next, input };
}

function toParams(params: JsonObject, capabilities: JsonObject = {}): JsonObject {
  return { ...params, _meta: { [META.protocolVersion]: STATELESS, [META.clientCapabilities]: capabilities } };
}

async function callTool(name: string, args: JsonObject, capabilities?: JsonObject): Promise<JsonObject> {
  const { send, next } = await open();
  send('tools/call', toParams({ name, arguments: args }, capabilities));
  return (await next()).result;
}

describe('the demo server', () => {
  it('adds two numbers', async () => {
    expect(await callTool('add', { a: 2, b: 40 })).toMatchObject({ structuredContent: { sum: 42 } });
  });

  it('tells the same weather every time', async () => {
    const first = await callTool('weather', { city: 'Oslo' });
    expect(await callTool('weather', { city: 'Oslo' })).toEqual(first);
    expect(first).toMatchObject({ structuredContent: { city: 'Oslo' }, isError: false });
  });

  it('asks for what a booking lacks, and books it', async () => {
    const { send, next } = await open();
    const call = { name: 'book_table', arguments: { people: 2 } };
    const capabilities = { elicitation: { form: {} } };
    send('tools/call', toParams(call, capabilities));
    const { result: asked } = await next();
    const properties = { name: expect.anything(), time: expect.anything() };
    expect(asked).toMatchObject({ inputRequests: { booking: { params: { requestedSchema: { properties } } } } });
    const answer = { action: 'accept', content: { name: 'Ada', time: '19:00' } };
    const retry = { ...call, inputResponses: { booking: answer }, requestState: asked.requestState };
    send('tools/call', toParams(retry, capabilities));
    expect((await next()).result).toMatchObject({ content: [{ text: 'Booked: 2 at 19:00 for Ada.' }] });
    send('resources/read', toParams({ uri: 'demo://bookings' }));
    expect(JSON.stringify((await next()).result)).toContain('Ada');
  });

  it('books at once what is complete, and asks for the rest on a page where the client has no forms', async () => {
    const booking = { name: 'Ada', time: '19:00', people: 2 };
    expect(await callTool('book_table', booking)).toMatchObject({ isError: false });
    const asked = await callTool('book_table', { people: 2 });
    const question = expect.stringMatching(/- name \(.*- time \(.*\/ask\?t=.*call parley_answer/s);
    expect(asked).toMatchObject({ content: [{ text: question }] });
  });

  it('summarizes with the model of the client, else by the first sentence', async () => {
    const alone = await callTool('summarize', { text: 'One. Two. Three.' });
    expect(alone).toMatchObject({ content: [{ text: expect.stringMatching(/^One\. \(/) }] });
    const asked = await callTool('summarize', { text: 'One. Two.' }, { sampling: {} });
    expect(JSON.stringify(asked.inputRequests)).toContain('sampling/createMessage');
  });

  it('stops counting when it is cancelled', async () => {
    const { send, next, input } = await open();
    const params = toParams({ name: 'countdown', arguments: { from: 60 } });
    send('tools/call', { ...params, _meta: { ...(params._meta as JsonObject), progressToken: 't' } });
    expect(await next()).toMatchObject({ method: 'notifications/progress' });
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    input.write(`${JSON.stringify(cancel)}\n`);
    send('tools/call', toParams({ name: 'add', arguments: { a: 1, b: 1 } }));
    expect(await next()).toMatchObject({ id: 2 });
  });

  it('completes cities, and reads the template only for cities it knows', async () => {
    const { send, next } = await open();
    const ref = { type: 'ref/resource', uri: 'demo://weather/{city}' };
    send('completion/complete', toParams({ ref, argument: { name: 'city', value: 'os' } }));
    expect((await next()).result).toMatchObject({ completion: { values: ['Osaka', 'Oslo'] } });
    send('resources/read', toParams({ uri: 'demo://weather/Atlantis' }));
    expect(await next()).toMatchObject({ error: { code: -32602 } });
  });
});
