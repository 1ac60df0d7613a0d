// Everything a program does with a server, the same in both eras and over every kind of transport: questions, samplings, roots,
// progress, log, cancelling, tasks, changes, subscriptions.
import { describe, expect, test } from 'vitest';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { createServer } from 'mcp-parley';
import type { Address, Client, ConnectOptions, ServerOptions } from 'mcp-parley';
import { connected, textOf } from '../helpers/fixture-server.ts';
import { until, within } from '../helpers/until.ts';

interface Case {
  revision: string;
  transport: string;
  ask: ServerOptions['ask'];
}

const CASES = ['2025-11-25', '2026-07-28'].flatMap((revision) =>
  ['streamable-http', 'websocket', 'memory'].map((transport) => ({ revision, transport })),
);

describe.each(CASES)('$revision over $transport', ({ revision, transport }) => {
  const open = (options: ConnectOptions = {}, ask?: ServerOptions['ask']) =>
    setUp({ revision, transport, ask }, options);

  test('a form is accepted with defaults, declined, cancelled, or refused by the approver', async () => {
    await using accepting = await open({ onElicit: () => ({ action: 'accept' }) });
    expect(await textOf(accepting.client, 'ask')).toBe('accept {"city":"Oslo"}');
    await using declining = await open({ onElicit: () => ({ action: 'decline' }) });
    expect(await textOf(declining.client, 'ask')).toContain('decline');
    await using cancelling = await open({ onElicit: () => ({ action: 'cancel' }) });
    expect(await textOf(cancelling.client, 'ask')).toContain('cancel');
    let called = 0;
    const onElicit = () => ({ action: 'accept' as const, content: { called: ++called } });
    await using denying = await open({ onElicit, approve: (kind) => kind !== 'elicitation' });
    // The handshake era tells the server, whose tool then fails; the newest one just does not ask again.
    const outcome = await within(
      'the call',
      denying.client.callTool('ask').catch((error: unknown) => error),
    );
    expect(outcome instanceof Error || (outcome as { isError?: boolean }).isError).toBe(true);
    expect(called).toBe(0);
  });

  test('one call asks many questions in turn', async () => {
    const asked: string[] = [];
    await using t = await open({
      onElicit({ message }, { server }) {
        asked.push(`${server?.name}: ${message}`);
        return { action: 'accept', content: { city: String(asked.length) } };
      },
    });
    expect(await textOf(t.client, 'ask-thrice')).toBe('1 2 3');
    expect(asked).toEqual(['any: 1?', 'any: 2?', 'any: 3?']);
  });

  test('a server gets samples and roots', async () => {
    await using t = await open({
      onSample: ({ messages, systemPrompt }) => ({
        role: 'assistant',
        model: 'none',
        content: { type: 'text', text: `${systemPrompt}, ${messages.length}` },
      }),
      roots: [{ uri: 'file:///srv/me', name: 'Home' }],
    });
    expect(await textOf(t.client, 'sample')).toBe('Be brief, 1');
    expect(await textOf(t.client, 'roots')).toBe('file:///srv/me');
    await t.client.setRoots([{ uri: 'file:///tmp' }]);
    expect(await textOf(t.client, 'roots')).toBe('file:///tmp');
  });

  test('a question to a client that cannot be asked comes back as text with a page, and its model passes the answer on', async () => {
    await using t = await open();
    const asked = await textOf(t.client, 'ask');
    expect(asked).toContain('Question: “Where?”');
    expect(asked).toMatch(/http:\/\/127\.0\.0\.1:\d+\/ask\?t=/);
    const [, handle] = /"handle":"([^"]+)"/.exec(asked) ?? [];
    expect(await textOf(t.client, 'parley_answer', { handle, answer: { city: 'Rome' } })).toBe(
      'accept {"city":"Rome"}',
    );
    const again = /"handle":"([^"]+)"/.exec(await textOf(t.client, 'ask'))?.[1];
    expect(await textOf(t.client, 'parley_answer', { handle: again, decline: true })).toContain('decline');
  });

  test('where no other way is wished, a question to a client that cannot be asked fails the tool and not the session', async () => {
    await using t = await open({}, { channels: [] });
    const outcome = await within(
      'the call',
      t.client.callTool('ask').catch((error: unknown) => error),
    );
    expect(outcome instanceof Error || (outcome as { isError?: boolean }).isError).toBe(true);
    expect(await textOf(t.client, 'echo', { text: 'hi' })).toBe('hi');
  });

  test('progress and log come before the answer', async () => {
    await using t = await open();
    await t.client.setLogLevel('info');
    const heard: unknown[] = [];
    t.client.on('log', ({ entry }) => heard.push(entry.data));
    await t.client.callTool('work', {}, { onProgress: ({ progress, total }) => heard.push(`${progress}/${total}`) });
    await until('the log', () => heard.length === 3);
    expect(heard.map(String).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['1/2', '2/2', 'working']);
  });

  test('a call that is given up is cancelled at the server', async () => {
    await using t = await open();
    const controller = new AbortController();
    const call = t.client.callTool('wait', {}, { signal: controller.signal });
    await until('the tool to run', () => t.server.waiting === 1);
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    await until('the tool to be told', () => t.server.cancelled === 1);
    expect(await textOf(t.client, 'echo', { text: 'hi' })).toBe('hi');
  });

  test('a tool that runs as a task is followed to its end, its question answered on the way', async () => {
    await using t = await open({ onElicit: () => ({ action: 'accept', content: { city: 'Rome' } }) });
    const states: string[] = [];
    await t.client.listTools();
    const call = t.client.callTool('long', {}, { task: true, onTask: ({ status }) => states.push(status) });
    expect((await within('the task', call)).content).toEqual([{ type: 'text', text: 'Rome' }]);
    expect(states.at(-1)).toBe('completed');
  });

  test('a task whose caller gives up is cancelled', async () => {
    await using t = await open({ onElicit: () => ({ action: 'accept', content: {} }) });
    const controller = new AbortController();
    const call = t.client.callTool('wait-as-task', {}, { task: true, signal: controller.signal });
    await until('the tool to run', () => t.server.waiting === 1);
    controller.abort();
    await expect(within('the task', call)).rejects.toMatchObject({ code: 'CANCELLED' });
    await until('the tool to be told', () => t.server.cancelled === 1);
  });

  test('changes of lists and resources reach the clients that listen, and no others', async () => {
    await using t = await open();
    const heard: string[] = [];
    t.client.on('tools', () => heard.push('tools'));
    const end = await t.client.subscribe('test://a', (uri) => heard.push(uri));
    await until('the tools to be told', () => {
      t.server.change();
      return heard.includes('tools') && heard.includes('test://a');
    });
    await end();
    expect(heard).not.toContain('test://b');
  });

  test('pages, prompts, resources and completion work', async () => {
    await using t = await open();
    expect((await t.client.listTools()).length).toBeGreaterThan(5);
    expect((await t.client.listResources()).map(({ uri }) => uri)).toEqual(['test://a', 'test://b']);
    expect((await t.client.readResource('test://a')).contents).toMatchObject([{ text: 'A' }]);
    expect((await t.client.getPrompt('greet', { who: 'Ann' })).messages).toMatchObject([
      { content: { text: 'Hello Ann' } },
    ]);
    expect((await t.client.complete({ prompt: 'greet' }, { name: 'who', value: 'A' })).values).toEqual(['Ann']);
    await t.client.ping();
    await expect(t.client.readResource('test://none')).rejects.toMatchObject({ code: expect.any(Number) });
  });
});

async function setUp({ revision, transport, ask }: Case, options: ConnectOptions) {
  const { server, state } = makeServer({ revision, ask });
  const { url, port } = await server.listen({ port: 0 });
  let address: Address = transport === 'websocket' ? `ws://127.0.0.1:${port}/ws` : url;
  if (transport === 'memory') {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    address = near;
  }
  const client: Client = await connected(address, options);
  expect(client.server.revision).toBe(revision);
  const dispose = async (): Promise<void> => {
    await within('the client to close', client.close());
    await within('the server to close', server.close());
  };
  return { client, server: state, [Symbol.asyncDispose]: dispose };
}

function makeServer({ revision, ask }: Pick<Case, 'revision' | 'ask'>) {
  const server = createServer({
    name: 'any',
    version: '1',
    revisions: [revision],
    pageSize: 3,
    declare: ['logging'],
    ...(ask && { ask }),
  });
  const state = { waiting: 0, cancelled: 0, change: () => {} };
  const schema = { city: { type: 'string', default: 'Oslo' } };
  server.tool('echo', {}, ({ text }) => String(text));
  server.tool('ask', {}, async (_, call) => {
    const { action, content } = await call.ask.elicit({ message: 'Where?', schema });
    return `${action} ${JSON.stringify(content)}`;
  });
  server.tool('ask-thrice', {}, async (_, call) => {
    const cities: unknown[] = [];
    for (const n of [1, 2, 3]) cities.push((await call.ask.elicit({ message: `${n}?`, schema })).content?.city);
    return cities.join(' ');
  });
  server.tool('sample', {}, async (_, call) => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }];
    const { content } = await call.ask.sample({ messages, maxTokens: 5, systemPrompt: 'Be brief' });
    return (content as { text: string }).text;
  });
  server.tool('roots', {}, async (_, call) => (await call.ask.roots()).map(({ uri }) => uri).join(' '));
  server.tool('work', {}, (_, call) => {
    call.progress(1, 2);
    call.log('debug', 'too fine');
    call.log('info', 'working');
    call.progress(2, 2);
    return 'done';
  });
  const wait = (call: { signal: AbortSignal }) =>
    new Promise<string>((resolve) => {
      state.waiting++;
      call.signal.addEventListener('abort', () => {
        state.cancelled++;
        resolve('cancelled');
      });
    });
  server.tool('wait', {}, (_, call) => wait(call));
  server.tool('wait-as-task', { task: 'required' }, (_, call) => wait(call));
  server.tool('long', { task: 'required' }, async (_, call) => {
    call.status('asking');
    return String((await call.ask.elicit({ message: 'Where?', schema })).content?.city);
  });
  server.resource('test://a', { name: 'a' }, () => 'A');
  server.resource('test://b', { name: 'b' }, () => 'B');
  server.prompt(
    'greet',
    { arguments: [{ name: 'who' }], complete: { who: () => ['Ann'] } },
    ({ who }) => `Hello ${who}`,
  );
  state.change = () => {
    server.tool(`tool-${Math.random()}`, {}, () => '').remove();
    server.touch('test://a');
    server.touch('test://b');
  };
  return { server, state };
}
