import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../../mcp/eras/fake-views.contract.ts';
import { FakeExchange, answerOf, fakeClient } from './fake-exchange.contract.ts';
import { Server } from './server.ts';
import type { ServerOptions } from './types.ts';

const create = (options: Partial<ServerOptions> = {}) => new Server({ name: 'test', version: '1', ...options });
const METHODS = [
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
];

describe('what a server says of itself', () => {
  it('what a server says of itself is its implementation and instructions, without other options', () => {
    const server = create({ title: 'T', websiteUrl: 'https://example.com', instructions: 'Be kind', pageSize: 3 });
    expect(server.info).toEqual({ name: 'test', version: '1', title: 'T', websiteUrl: 'https://example.com' });
    expect(server.instructions).toBe('Be kind');
    expect(server.options.pageSize).toBe(3);
  });
});

describe('capabilities', () => {
  it('capabilities are logging alone for a server with nothing in it', () => {
    expect(create().capabilities(fakeClient())).toEqual({ logging: {} });
  });

  it('capabilities are exactly the declared areas, without flags, while they are empty', () => {
    expect(create({ declare: ['tools'] }).capabilities(fakeClient())).toEqual({ tools: {} });
    expect(create({ declare: ['completions', 'logging'] }).capabilities(fakeClient())).toEqual({
      completions: {},
      logging: {},
    });
  });

  it('capabilities have their flags where something is registered', () => {
    const server = create({ declare: ['tools'] });
    server.tool('a', {}, () => '');
    server.template('a://{x}', { complete: { x: () => [] } }, () => '');
    server.prompt('p', {}, () => '');
    expect(server.capabilities(fakeClient())).toEqual({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
    });
  });

  it('capabilities are those of the definitions the client is in scope of', () => {
    const server = create();
    server.tool('a', { only: { dialects: ['draft'] } }, () => '');
    server.prompt('p', { only: { revisions: ['r1'] }, complete: { x: () => [] } }, () => '');
    expect(server.capabilities(fakeClient())).toEqual({ logging: {} });
    expect(Object.keys(server.capabilities(fakeClient({ ...SPEAKING.draft })))).toEqual(['tools', 'logging']);
    const other = server.capabilities(fakeClient({ revision: 'r1' }));
    expect(Object.keys(other)).toEqual(['prompts', 'logging', 'completions']);
  });

  it('stay when the last definition is removed, because clients were told of them', async () => {
    const server = create();
    server.tool('a', {}, () => '').remove();
    expect(server.capabilities(fakeClient())).toHaveProperty('tools');
    expect(await answerOf(server, new FakeExchange('tools/list'))).toMatchObject({ tools: [] });
  });
});

describe('a request', () => {
  it.each([...METHODS, 'ping', 'nope', 'constructor'])(
    'a request for %s finds no method on an empty server',
    async (method) => {
      const asked = answerOf(create(), new FakeExchange(method));
      await expect(asked).rejects.toMatchObject({ code: 'METHOD_NOT_FOUND', details: { method } });
    },
  );

  it.each(METHODS)('a request for %s finds its method where the area is declared', async (method) => {
    const server = create({ declare: ['tools', 'resources', 'prompts', 'completions'] });
    const outcome = await answerOf(server, new FakeExchange(method)).catch((error: unknown) => error);
    expect(outcome).not.toMatchObject({ code: 'METHOD_NOT_FOUND' });
  });

  it('a request that fails after the client cancelled is cancelled', async () => {
    const server = create();
    const exchange = new FakeExchange('resources/read', { params: { uri: 'a://1' } });
    server.resource('a://1', {}, () => {
      exchange.controller.abort();
      throw new Error('aborted');
    });
    await expect(answerOf(server, exchange)).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});
