// Everything but questions, through a gateway, for every pair of eras and both ways to reach a server: a client must not notice
// what the server speaks.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from 'mcp-parley';
import { bridge, PAIRS } from '../helpers/bridge.ts';
import type { Bridge } from '../helpers/bridge.ts';
import { textOf } from '../helpers/fixture-server.ts';
import { until, within } from '../helpers/until.ts';

describe.each(PAIRS)('client $client, server $server over $upstream', (pair) => {
  let between: Bridge;
  let client: Client;

  beforeAll(async () => {
    between = await bridge(pair);
    client = await between.connect();
  });
  afterAll(() => between?.[Symbol.asyncDispose]());

  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: { code: unknown; message: string; data?: unknown }) => ({
        code: error.code,
        message: error.message,
        data: error.data,
      }),
    );

  test('the client sees the server itself, in its own revision', () => {
    expect(client.server).toMatchObject({
      revision: pair.client,
      info: { name: 'bridged', version: '1.2.3' },
      instructions: 'Be kind.',
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, completions: {}, logging: {} },
    });
  });

  test('calls return results of every shape', async () => {
    expect(await textOf(client, 'echo', { text: 'Grüße' })).toBe('Grüße');
    expect(await client.callTool('broken')).toMatchObject({ isError: true });
    const { structuredContent } = await client.callTool('list');
    // The handshake era has objects only, on either side.
    const isWrapped = [pair.client, pair.server].includes('2025-11-25');
    expect(structuredContent).toEqual(isWrapped ? { result: [1, 2] } : [1, 2]);
  });

  test('lists are read page by page', async () => {
    const names = (await client.listTools()).map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(names).toContain('echo');
    expect(names).toContain('endless');
    const first = await client.request('tools/list');
    expect(first.tools).toHaveLength(3);
    expect(Buffer.from(String(first.nextCursor), 'base64').toString()).toBe('{"offset":3}'); // as the server wrote it
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['note://a', 'note://b']);
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['greet']);
  });

  test('resources, prompts, completion', async () => {
    expect((await client.readResource('note://a')).contents).toMatchObject([
      { uri: 'note://a', text: 'Contents of A' },
    ]);
    expect((await client.getPrompt('greet', { who: 'Ann' })).messages).toMatchObject([
      { content: { text: 'Hello, Ann!' } },
    ]);
    const completion = await client.complete({ prompt: 'greet' }, { name: 'who', value: 'B' });
    expect(completion.values).toEqual(['Bob']);
  });

  test('all progress arrives in order, before the answer', async () => {
    const heard: unknown[] = [];
    await client.callTool('work', {}, { onProgress: (progress) => heard.push(progress) });
    expect(heard).toEqual([
      { progress: 1, total: 3, message: 'one' },
      { progress: 2, total: 3, message: 'two' },
      { progress: 3, total: 3 },
    ]);
  });

  test('log messages arrive from the level that the client set', async () => {
    // On stdio, log messages name no call: only a client that shares its connection with nobody is told.
    await using alone = await bridge(pair);
    const own = await alone.connect();
    const heard: unknown[] = [];
    own.on('log', ({ entry }) => heard.push([entry.level, entry.data]));
    await own.setLogLevel('debug');
    await own.callTool('work');
    await until('the log', () => heard.length === 2);
    expect(heard).toEqual([
      ['debug', 'details'],
      ['info', 'working'],
    ]);
    await own.setLogLevel('error');
    await own.callTool('work');
    expect(await textOf(own, 'echo', { text: 'later' })).toBe('later');
    expect(heard).toHaveLength(2);
  });

  test('cancelling reaches the server', async () => {
    // A server that may ask is replaced after a cancel, and the new process would have counted none.
    await using mute = await bridge(pair, {}, { ask: { channels: [] } });
    const client = await mute.connect();
    const before = Number(await textOf(client, 'cancelled'));
    const controller = new AbortController();
    const started = new Promise<void>((resolve) => {
      const call = client.callTool('hang', {}, { signal: controller.signal, onProgress: () => resolve() });
      call.catch(() => {});
    });
    await within('the call to start', started);
    controller.abort();
    await until('the server to notice', async () => Number(await textOf(client, 'cancelled')) === before + 1);
  });

  test('a client is notified of changed lists', async () => {
    let told = 0;
    const off = client.on('tools', () => void (told += 1));
    // A stateless client is told only once its stream is acknowledged: something has to change after that.
    await until('word of the change', async () => {
      await client.callTool('toggle');
      return told > 0;
    });
    off();
    if ((await client.listTools()).some(({ name }) => name === 'dynamic')) await client.callTool('toggle');
  });

  test('only subscribers are notified of a changed resource', async () => {
    const [mine, others]: [string[], string[]] = [[], []];
    await using other = await between.connect();
    const stop = await client.subscribe('note://a', (uri) => void mine.push(uri));
    await other.subscribe('note://b', (uri) => void others.push(uri));
    await client.callTool('touch', { uri: 'note://a' });
    await until('the update', () => mine.length > 0);
    await client.callTool('touch', { uri: 'note://b' });
    await until('the update of the other', () => others.length > 0);
    expect(mine).toEqual(['note://a']);
    expect(others).toEqual(['note://b']);
    await stop();
    // A stateless server takes a subscription to whatever may come to be.
    if (pair.server === '2025-11-25') await expect(client.subscribe('note://none', () => {})).rejects.toThrow();
  });

  test('errors keep their meaning', async () => {
    expect(await errorOf(client.callTool('fail'))).toMatchObject({
      code: -32050,
      message: 'Out of order',
      data: { since: 'today' },
    });
    expect(await errorOf(client.callTool('no-such-tool'))).toMatchObject({ code: -32602 });
    expect(await errorOf(client.getPrompt('no-such-prompt'))).toMatchObject({ code: -32602 });
    expect(await errorOf(client.readResource('note://none'))).toMatchObject({
      code: pair.client === '2025-11-25' && pair.server === '2025-11-25' ? -32002 : -32602,
      data: { uri: 'note://none' },
    });
    expect(await errorOf(client.request('no/such/method'))).toMatchObject({ code: -32601 });
    expect(await errorOf(client.request('tools/list', { cursor: 'nonsense' }))).toMatchObject({ code: -32602 });
  });

  test('many calls at once all succeed', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `call ${index}`);
    expect(await Promise.all(texts.map((text) => textOf(client, 'echo', { text })))).toEqual(texts);
  });
});
