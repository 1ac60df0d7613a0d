// Flows with official clients when no answer comes in time, when an answer comes twice, and when the server dies before its
// result was delivered.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog, createServer } from '../../../src/_entries/index.ts';
import type { ParleyServer } from '../../../src/_entries/index.ts';
import { flow, serveFlows } from '../../../src/_entries/flow.ts';
import { manualClock } from '../../../src/flow/testing/manual-clock.ts';
import { fixture, startHttp } from '../../helpers/fixture-server.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { until } from '../../helpers/until.ts';

const WHO = { name: 'borders', version: '1.0.0' };
const FORMS = { capabilities: { elicitation: { form: {} } } };
const clock = manualClock();

const page = flow({ name: 'page' }, async (ask) => {
  const time = { timeout: '2s', onTimeout: 'default' } as const;
  const channel = await ask.text('channel', { message: 'Which channel?', default: 'slack', alone: true, ...time });
  return `${channel}, ${await ask.text('name', { message: 'Who?', alone: true })}`;
});

interface Shown {
  message: string;
  signal: AbortSignal;
}
type Shows = (form: Shown) => Promise<{ action: 'accept'; content: Record<string, string> }>;

/** A client that shows forms; `signal` aborts when one is withdrawn. */
const FORM_CLIENTS = {
  async 'SDK v1'(url: string, show: Shows) {
    const client = new ClientV1(WHO, FORMS);
    client.setRequestHandler(types.ElicitRequestSchema, ({ params }, { signal }) =>
      show({ message: params.message, signal }),
    );
    await client.connect(new TransportV1(new URL(url)));
    const call = () => client.callTool({ name: 'page', arguments: {} }, undefined, { timeout: 60_000 });
    return { call, close: () => client.close() };
  },
  async 'SDK v2, handshake'(url: string, show: Shows) {
    const client = new ClientV2(WHO, { ...FORMS, versionNegotiation: { mode: 'legacy' } });
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq: { signal } }) =>
      show({ message: params.message, signal }),
    );
    await client.connect(new TransportV2(new URL(url)));
    const call = () => client.callTool({ name: 'page', arguments: {} }, { timeout: 60_000 });
    return { call, close: () => client.close() };
  },
};

describe('a form whose time is over', () => {
  let server: ParleyServer;
  let url: string;
  beforeAll(async () => {
    server = createServer({ name: 'times', version: '1', log: createLog({ level: 'silent' }) });
    serveFlows(server, [page], { clock });
    ({ url } = await server.listen({ port: 0 }));
  });
  afterAll(() => server.close());

  test.each(Object.keys(FORM_CLIENTS) as (keyof typeof FORM_CLIENTS)[])(
    'is withdrawn from an %s client, which is asked the next question',
    async (kind) => {
      const withdrawn: string[] = [];
      const show: Shows = ({ message, signal }) => {
        if (message.includes('Who?')) return Promise.resolve({ action: 'accept', content: { name: 'Ada' } });
        setImmediate(() => clock.move(3000));
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            withdrawn.push(message);
            resolve({ action: 'accept', content: { channel: 'too late' } });
          });
        });
      };
      const client = await FORM_CLIENTS[kind](url, show);
      expect(await client.call()).toMatchObject({ content: [{ text: 'slack, Ada' }] });
      expect(withdrawn).toEqual(['Which channel?']);
      await client.close();
    },
  );
});

describe('an SDK v1 client that plays over MCP Flow by hand', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-borders-'));
  afterAll(() => removeFolder(folder));
  const start = () =>
    startHttp(fixture('keeps-results', [JSON.stringify({ sqlite: { path: join(folder, 'flows.db') } })]));

  /** `acknowledge` answers `interaction.complete`; without it the client never does. */
  async function connected(url: string, acknowledge?: (told: unknown) => Record<string, unknown>) {
    const told: unknown[] = [];
    const client = new ClientV1(WHO, {});
    client.fallbackRequestHandler = ({ method, params }) => {
      if (method !== 'interaction.complete') return Promise.resolve({ acknowledged: true });
      told.push(params);
      return acknowledge ? Promise.resolve(acknowledge(params)) : new Promise(() => {});
    };
    await client.connect(new TransportV1(new URL(url), { requestInit: { headers: { 'x-user': 'ada' } } }));
    const request = (method: string, params: Record<string, unknown>) =>
      client.request({ method, params }, types.ResultSchema) as Promise<Record<string, unknown>>;
    return { request, told, close: () => client.close() };
  }

  test('fetches its result in another session after the server was killed, until it has acknowledged it', async () => {
    const first = await start();
    const before = await connected(first.url);
    const { sessionId } = await before.request('interaction.start', { toolName: 'order' });
    const answer = { sessionId, promptId: 'city~1', response: { value: 'Oslo' } };
    await before.request('interaction.respond', answer);
    await until('the end to be told', () => before.told.length === 1);
    await first.stop();
    await before.close();

    const second = await start();
    const after = await connected(second.url, () => ({ success: true, finalResult: {} }));
    const result = { success: true, data: { city: 'Oslo' } };
    expect(await after.request('interaction.getState', { sessionId })).toMatchObject({ state: 'completed', result });
    expect(await after.request('interaction.respond', answer)).toMatchObject({ accepted: true });
    await until('the end to be told again', () => after.told.length === 1);
    expect(after.told).toMatchObject([{ sessionId, result }]);
    await until(
      'it to be forgotten',
      async () => !('result' in (await after.request('interaction.getState', { sessionId }))),
    );
    await after.close();
    await second.stop();
  });
});

test('an SDK v1 client does not answer the next question with an answer that it sends twice', async () => {
  const twice = flow({ name: 'twice' }, async (ask) => {
    await ask.confirm('draft', { message: 'Save a draft?', alone: true });
    return ask.confirm('send', { message: 'Send it to all customers?', by: 'human', alone: true });
  });
  const server = createServer({ name: 'mail', version: '1', log: createLog({ level: 'silent' }) });
  serveFlows(server, [twice]);
  // A transport that keeps the order of what is sent, as stdio does.
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  const client = new ClientV1(WHO, {});
  client.fallbackRequestHandler = () => Promise.resolve({ acknowledged: true });
  await client.connect(ours);
  const request = (method: string, params: Record<string, unknown>) =>
    client.request({ method, params }, types.ResultSchema) as Promise<Record<string, unknown>>;
  const { sessionId } = await request('interaction.start', { toolName: 'twice' });
  const answer = { sessionId, response: { value: true } };
  const clicks = [request('interaction.respond', answer), request('interaction.respond', answer)];
  const [one, two] = await Promise.allSettled(clicks);
  expect(one).toMatchObject({ status: 'fulfilled', value: { accepted: true } });
  // It is the same answer to the same question, or comes too late.
  if (two.status === 'rejected') expect(two.reason).toMatchObject({ code: -32003 });
  const { accumulatedData, currentPrompt } = await request('interaction.getState', { sessionId });
  expect({ accumulatedData, currentPrompt }).toMatchObject({
    accumulatedData: { draft: true },
    currentPrompt: { message: 'Send it to all customers?' },
  });
  await client.close();
  await server.close();
});
