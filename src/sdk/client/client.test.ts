import { describe, expect, test } from 'vitest';
import { SPEAKING } from '../../mcp/eras/fake-views.contract.ts';
import type { ConnectedServer } from '../../mcp/connect/connected-server.ts';
import { RecordingLog } from '../../mcp/connect/fake-link.contract.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { OutgoingCall } from '../../kernel/server-view.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { AskResponder } from './ask-responder.ts';
import { Client } from './client.ts';
import { Listeners } from './listeners.ts';
import type { ConnectOptions } from './types.ts';

type Answer = (call: OutgoingCall) => unknown;

function setUp(answer: Answer = () => ({}), options: ConnectOptions = {}) {
  const calls: OutgoingCall[] = [];
  const told: string[] = [];
  const log = new RecordingLog();
  const listeners = new Listeners(log);
  const answers = new AskResponder(options, async () => undefined);
  const connected = {
    server: { ...SPEAKING.handshake, revision: 'x', info: { name: 'srv', version: '1' }, capabilities: { tools: {} } },
    transport: 'stdio',
    async call(call: OutgoingCall) {
      calls.push(call);
      return (await answer(call)) as JsonObject;
    },
    async subscribe(uri: string) {
      told.push(`subscribe ${uri}`);
      if (uri === 'refused') throw new ProtocolError(-32602, 'no');
    },
    unsubscribe: async (uri: string) => void told.push(`unsubscribe ${uri}`),
    notify: async (method: string) => void told.push(method),
    watch: () => void told.push('watch'),
    close: async () => void told.push('close'),
  };
  const client = new Client(connected as unknown as ConnectedServer, { answers, listeners, log });
  return { client, calls, told, listeners, log };
}

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

describe('results', () => {
  test.each<[string, (client: Client) => Promise<unknown>, unknown]>([
    ['tools/call', (client) => client.callTool('a'), { content: 'text' }],
    ['tools/call', (client) => client.callTool('a'), {}],
    ['resources/read', (client) => client.readResource('a'), { content: [] }],
    ['prompts/get', (client) => client.getPrompt('a'), { messages: {} }],
    ['completion/complete', (client) => client.complete({ prompt: 'a' }, { name: 'x', value: '' }), {}],
    [
      'completion/complete',
      (client) => client.complete({ template: 'a' }, { name: 'x', value: '' }),
      { completion: { values: 5 } },
    ],
    ['tools/list', (client) => client.listTools(), { tools: null }],
  ])('of %s that have the wrong shape are errors, and the session lives on', async (method, ask, malformed) => {
    const answers = [malformed, { tools: [] }];
    const { client } = setUp(() => answers.shift());
    const error = await ask(client).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'UPSTREAM_INVALID', message: expect.stringContaining(method) });
    expect(await client.listTools()).toEqual([]);
  });

  test('results of older tools may lack content beside structured data', async () => {
    const { client } = setUp(() => ({ structuredContent: { a: 1 } }));
    expect(await client.callTool('a')).toEqual({ content: [], structuredContent: { a: 1 } });
  });

  test('results of a tool that failed are results', async () => {
    const { client } = setUp(() => ({ isError: true, content: [] }));
    expect((await client.callTool('a')).isError).toBe(true);
  });

  test('leave out tools that cannot be called', async () => {
    const tools = [tool('good'), tool(''), { name: 'x' }, tool('array', { inputSchema: { type: 'array' } })];
    const { client, log } = setUp(() => ({ tools: [...tools, tool('odd', { inputSchema: { properties: [] } })] }));
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['good']);
    expect(log.events).toEqual(['upstream.entries-dropped']);
  });

  test('results of an area that the server lacks are empty', async () => {
    const { client } = setUp(() => {
      throw new ProtocolError(-32601, 'Method not found');
    });
    expect(await client.listPrompts()).toEqual([]);
    expect(await client.listResources()).toEqual([]);
    expect(await client.listResourceTemplates()).toEqual([]);
    await expect(client.listTools()).rejects.toMatchObject({ code: -32601 });
  });
});

describe('structured results', () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const listed =
    (schema: unknown): Answer =>
    ({ method, params }) =>
      method === 'tools/list'
        ? { tools: [tool('count', { outputSchema: schema })] }
        : (params!.arguments as JsonObject).give;
  const give = (result: object) => ({ give: { content: [], ...result } });

  test('structured results that keep to the schema of the list pass, and so do failures', async () => {
    const { client } = setUp(listed(outputSchema));
    await client.listTools();
    expect(await client.callTool('count', give({ structuredContent: { n: 1, more: true } }))).toMatchObject({
      structuredContent: { n: 1 },
    });
    expect((await client.callTool('count', give({ isError: true }))).isError).toBe(true);
  });

  test.each([
    [{ structuredContent: { n: 'one' } }, 'n: Must be integer'],
    [{ structuredContent: {} }, 'n: Required parameter missing'],
    [{}, 'without the structured content it promised'],
  ])('that do not are errors: %j', async (result, reason) => {
    const { client } = setUp(listed(outputSchema));
    await client.listTools();
    const error = { code: 'UPSTREAM_INVALID', message: expect.stringContaining(reason) };
    await expect(client.callTool('count', give(result))).rejects.toMatchObject(error);
  });

  test('structured results of a tool that was never listed are not checked', async () => {
    const { client } = setUp(listed(outputSchema));
    expect(await client.callTool('count', give({ structuredContent: {} }))).toMatchObject({ structuredContent: {} });
  });

  test.each([
    { $ref: 'https://elsewhere.example/schema' },
    { $schema: 'urn:unknown' },
    { type: 'no such type' },
    { description: 'x'.repeat(100_000) },
  ])('pass where the schema cannot be used, which is logged once', async (schema) => {
    const { client, log } = setUp(listed(schema));
    await client.listTools();
    for (let times = 0; times < 2; times++) await client.callTool('count', give({ structuredContent: { n: 'x' } }));
    expect(log.events).toEqual(['upstream.schema-unusable']);
  });
});

describe('the approver', () => {
  const deny = { approve: () => false };

  test('the approver that says no keeps calls and reads from being sent, also those by request()', async () => {
    const { client, calls } = setUp(undefined, deny);
    const marker = { secret: 'marker' };
    for (const attempt of [
      client.callTool('a', marker),
      client.readResource('file:///marker'),
      client.request('tools/call', { name: 'a', arguments: marker }),
      client.request('resources/read', { uri: 'file:///marker' }),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'NOT_APPROVED' });
    }
    expect(calls).toEqual([]);
  });

  test('the approver is told name, arguments and annotations of a call', async () => {
    const seen: unknown[] = [];
    const { client } = setUp(
      ({ method }) =>
        method === 'tools/list' ? { tools: [tool('rm', { annotations: { destructiveHint: true } })] } : { content: [] },
      {
        approve: (kind, details) => {
          seen.push(kind, details);
          return true;
        },
      },
    );
    await client.listTools();
    await client.callTool('rm', { path: '/' });
    const annotations = { destructiveHint: true };
    expect(seen).toEqual(['tools/call', { kind: 'tools/call', name: 'rm', arguments: { path: '/' }, annotations }]);
  });

  test('the approver is not needed: what the program does itself is allowed', async () => {
    const { client, calls } = setUp(() => ({ content: [] }));
    await client.callTool('a');
    expect(calls).toHaveLength(1);
  });
});

describe('tasks', () => {
  const tools = ['required', 'optional', 'forbidden'].map((name) => tool(name, { execution: { taskSupport: name } }));
  const answer: Answer = ({ method }) => (method === 'tools/list' ? { tools } : { content: [] });

  test('tasks are asked for where the tool can, and always where it must', async () => {
    const { client, calls } = setUp(answer);
    await client.listTools();
    for (const { name } of tools) {
      await client.callTool(name);
      await client.callTool(name, {}, { task: { ttl: 5 } });
    }
    expect(calls.slice(1).map(({ task }) => task)).toEqual([
      {},
      { ttl: 5 },
      undefined,
      { ttl: 5 },
      undefined,
      undefined,
    ]);
  });

  test('tasks of a tool that was never listed are asked for as the caller says', async () => {
    const { client, calls } = setUp(answer);
    await client.callTool('x', {}, { task: true });
    await client.callTool('x');
    expect(calls.map(({ task }) => task)).toEqual([{}, undefined]);
  });

  test('tasks are followed to their end', async () => {
    const task = { taskId: 't', status: 'completed', result: { content: [], structuredContent: 1 } };
    const { client } = setUp(() => ({ task }));
    expect(await client.callTool('a')).toEqual(task.result);
  });
});

describe('subscriptions', () => {
  test('tell of the resource and its parts, and of nothing that is only named alike', async () => {
    const { client, listeners } = setUp();
    const heard: string[] = [];
    await client.subscribe('file:///a', (uri) => heard.push(uri));
    for (const uri of ['file:///a', 'file:///a/b', 'file:///a?x', 'file:///ab', 'file:///'])
      listeners.tell({ kind: 'resource', uri });
    expect(heard).toEqual(['file:///a', 'file:///a/b', 'file:///a?x']);
  });

  test('a subscription ends once', async () => {
    const { client, told, listeners } = setUp();
    const heard: string[] = [];
    const end = await client.subscribe('a', (uri) => heard.push(uri));
    await end();
    await end();
    listeners.tell({ kind: 'resource', uri: 'a' });
    expect([told, heard]).toEqual([['subscribe a', 'unsubscribe a'], []]);
  });

  test('subscriptions that the server refuses leave no listener behind', async () => {
    const { client, listeners } = setUp();
    const heard: string[] = [];
    await expect(client.subscribe('refused', (uri) => heard.push(uri))).rejects.toMatchObject({ code: -32602 });
    listeners.tell({ kind: 'resource', uri: 'refused' });
    expect(heard).toEqual([]);
  });
});

describe('listening', () => {
  test('listening for changed lists makes the server tell of them', () => {
    const { client, told, listeners } = setUp();
    const heard: string[] = [];
    const off = client.on('tools', ({ kind }) => heard.push(kind));
    client.on('log', () => {});
    listeners.tell({ kind: 'tools' });
    off();
    listeners.tell({ kind: 'tools' });
    expect([told, heard]).toEqual([['watch'], ['tools']]);
  });
});

test('roots that change are told, and only where the server knows of roots', async () => {
  const { client, told } = setUp(undefined, { roots: [] });
  await client.setRoots([{ uri: 'file:///a' }]);
  await expect(client.setRoots([{ uri: 'https://a' }])).rejects.toBeInstanceOf(GatewayError);
  expect(told).toEqual(['notifications/roots/list_changed']);
  await expect(setUp().client.setRoots([])).rejects.toMatchObject({ code: 'BAD_OPTION' });
});

test('a client can be disposed of', async () => {
  const { client, told } = setUp();
  await client[Symbol.asyncDispose]();
  expect(told).toEqual(['close']);
});
