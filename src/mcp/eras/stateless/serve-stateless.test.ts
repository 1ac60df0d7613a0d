import { SPEAKING } from '../fake-views.contract.ts';
import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import { describe, expect, it, test } from 'vitest';
import type { Exchange } from '../../../kernel/exchange.ts';
import type { JsonObject, RequestMessage } from '../../../kernel/message.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { FakeTarget, RecordingOutlet, enveloped, fakeContext, request, settled } from '../fake-context.contract.ts';
import type { ServeContextOptions } from '../serve/serve-context.ts';
import { META } from '../meta.ts';
import { serveStateless } from './serve-stateless.ts';
import { toStatelessError } from './stateless-client-dialect.ts';

type Handle = (exchange: Exchange) => JsonObject | Promise<JsonObject>;

function serve(handle?: Handle, options?: ServeContextOptions) {
  const target = new FakeTarget(handle);
  const context = fakeContext(target, options);
  const put = (message: RequestMessage, headers?: Record<string, string>) => {
    const outlet = new RecordingOutlet();
    const read = headers && ((name: string) => headers[name]);
    const running = serveStateless(context, message, outlet, { principal: 'local', headers: read });
    return Object.assign(outlet, { running });
  };
  return { target, context, put };
}

const withTasks = { [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } } };

describe('the envelope', () => {
  it.each<[string, JsonObject | undefined, string]>([
    ['no params', undefined, '_meta'],
    ['no _meta', {}, '_meta'],
    ['_meta that is not an object', { _meta: [] }, '_meta'],
    ['no version', { _meta: { [META.clientCapabilities]: {} } }, META.protocolVersion],
    ['a version that is not a string', { _meta: { [META.protocolVersion]: 7 } }, META.protocolVersion],
    ['no capabilities', { _meta: { [META.protocolVersion]: '2026-07-28' } }, META.clientCapabilities],
    [
      'capabilities that are not an object',
      { _meta: { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: [] } },
      META.clientCapabilities,
    ],
  ])('%s is refused by name', (_, params, parameter) => {
    const outlet = serve().put(request(1, 'tools/list', params));
    expect(outlet.ends).toMatchObject([{ id: 1, error: { code: -32602, data: { parameter } } }]);
    expect(outlet.status).toBe(400);
  });

  it.each([
    [META.clientInfo, {}],
    [META.clientInfo, { name: 'x' }],
    [META.clientInfo, 'x'],
    [META.logLevel, 'loud'],
    [META.logLevel, null],
  ])('a malformed %s (%j) is refused by name', async (parameter, value) => {
    const { put } = serve();
    expect((await put(enveloped(1, 'tools/list', {}, { [parameter]: value })).answer()).error).toMatchObject({
      code: -32602,
      data: { parameter },
    });
  });

  it('a large introduction is refused by name', async () => {
    const clientInfo = { name: 'x'.repeat(70_000), version: '1' };
    const { error } = await serve()
      .put(enveloped(1, 'tools/list', {}, { [META.clientInfo]: clientInfo }))
      .answer();
    expect(error).toMatchObject({ code: -32602, data: { parameter: META.clientInfo } });
  });

  it('may omit the client’s info', async () => {
    const { put, target } = serve(() => ({ tools: [] }));
    await put(enveloped(1, 'tools/list')).answer();
    expect(target.seen[0]!.client).toMatchObject({
      ...SPEAKING.stateless,
      info: { name: 'unknown' },
      principal: 'local',
    });
  });

  it.each(['1999-01-01', '2025-11-25', '2027-01-01', 'draft', ''])(
    'version %j is refused with what is spoken',
    (version) => {
      const outlet = serve().put(enveloped('v', 'tools/list', {}, { [META.protocolVersion]: version }));
      expect(outlet.ends).toMatchObject([
        { id: 'v', error: { code: -32022, data: { supported: ['2026-07-28'], requested: version } } },
      ]);
      expect(outlet.status).toBe(400);
    },
  );
});

describe('methods', () => {
  it.each([
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'tasks/result',
    'tasks/list',
    'tools/invoke',
    'shutdown',
  ])('do not include %s, which is 404', (method) => {
    const { put, target } = serve();
    const outlet = put(enveloped(1, method));
    expect(outlet.ends).toMatchObject([{ id: 1, error: { code: -32601 } }]);
    expect(outlet.status).toBe(404);
    expect(target.seen).toEqual([]);
  });

  it('for tasks need the extension in the same request', async () => {
    const { put } = serve(() => ({ taskId: 't', status: 'working' }));
    expect((await put(enveloped(1, 'tasks/get', { taskId: 't' })).answer()).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    });
    expect((await put(enveloped(2, 'tasks/get', { taskId: 't' }, withTasks)).answer()).result).toMatchObject({
      resultType: 'complete',
      taskId: 't',
    });
  });

  it('for cancelling accept a finished task but not a missing id', async () => {
    const { put } = serve(() => {
      throw new GatewayError('INVALID_PARAMS', { parameter: 'taskId', error: 'x' });
    });
    expect((await put(enveloped(1, 'tasks/cancel', { taskId: 't' }, withTasks)).answer()).result).toBeDefined();
    expect((await put(enveloped(2, 'tasks/cancel', {}, withTasks)).answer()).error!.code).toBe(-32602);
  });

  it('include discover, which lists only stateless versions', async () => {
    const { result } = await serve().put(enveloped(1, 'server/discover')).answer();
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true } },
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { [META.serverInfo]: { name: 'fake' } },
    });
    expect(result).not.toHaveProperty('serverInfo');
  });
});

describe('answers', () => {
  it('have cache hints for lists and reads, which the target may set', async () => {
    const { put } = serve(() => ({ tools: [{ name: 'a', execution: {} }], ttlMs: 9 }));
    expect((await put(enveloped(1, 'tools/list')).answer()).result).toMatchObject({
      tools: [{ name: 'a' }],
      ttlMs: 9,
      cacheScope: 'private',
      resultType: 'complete',
    });
  });

  it('keep the target’s own _meta', async () => {
    const { put } = serve(() => ({ content: [], _meta: { x: 1 } }));
    expect((await put(enveloped(1, 'tools/call')).answer()).result!._meta).toMatchObject({
      x: 1,
      [META.serverInfo]: {},
    });
  });

  it.each<[string, unknown, JsonObject, number]>([
    ['an unknown tool', new GatewayError('TOOL_NOT_FOUND', { name: 'x' }), { code: -32602 }, 200],
    [
      'an unknown resource',
      new GatewayError('RESOURCE_NOT_FOUND', { uri: 'a:' }),
      { code: -32602, data: { uri: 'a:' } },
      200,
    ],
    ['a task that is required', new GatewayError('TASK_REQUIRED', { tool: 'x' }), { code: -32021 }, 400],
    ['an error of somebody else', new ProtocolError(-1, 'no', 7), { code: -1, message: 'no', data: 7 }, 200],
    ['a defect', new Error('secret'), { code: -32603, message: 'Internal error' }, 200],
    [
      'a missing capability',
      new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: 'roots/list', requiredCapabilities: { roots: {} } }),
      { code: -32021, data: { requiredCapabilities: { roots: {} } } },
      400,
    ],
  ])('report %s with the codes of the era', async (_, thrown, error, status) => {
    const { put } = serve(() => Promise.reject(thrown));
    const outlet = put(enveloped(1, 'tools/call'));
    expect((await outlet.answer()).error).toMatchObject(error);
    expect(outlet.status).toBe(status);
    expect(JSON.stringify(outlet.ends)).not.toContain('secret');
  });

  it('report bad arguments as a result for the model', async () => {
    const { put } = serve(() => Promise.reject(new GatewayError('INVALID_ARGUMENTS', { tool: 't', reason: 'r' })));
    expect((await put(enveloped(1, 'tools/call')).answer()).result).toMatchObject({
      isError: true,
      resultType: 'complete',
    });
  });

  it.each([
    ['completion/complete', {}],
    ['completion/complete', { completion: {} }],
    ['tools/call', null],
  ])('report an invalid answer to %s, %j, without affecting other requests', async (method, result) => {
    const { put } = serve(async () => result as unknown as JsonObject);
    expect((await put(enveloped(1, method)).answer()).error).toMatchObject({ code: -32603, message: 'Internal error' });
  });

  it('include progress and log messages only on request', async () => {
    const { put } = serve((exchange) => {
      exchange.progress({ progress: 1 });
      exchange.log({ level: 'info', data: 'i' });
      exchange.log({ level: 'error', data: 'e' });
      return { content: [] };
    });
    expect(put(enveloped(1, 'tools/call')).sent).toEqual([]);
    expect(put(enveloped(2, 'tools/call', {}, { progressToken: 'p', [META.logLevel]: 'error' })).sent).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'p' } },
      { method: 'notifications/message', params: { data: 'e' } },
    ]);
  });

  it('end silently after a cancellation, and the handler is aborted', async () => {
    let finish!: (result: JsonObject) => void;
    const { put, target } = serve(() => new Promise((resolve) => (finish = resolve)));
    const outlet = put(enveloped(1, 'tools/call', {}, { progressToken: 1 }));
    outlet.running!.cancel();
    expect(target.seen[0]!.signal.aborted).toBe(true);
    target.seen[0]!.progress({ progress: 1 });
    finish({ content: [] });
    await settled();
    expect(outlet.ends).toEqual([undefined]);
    expect(outlet.sent).toEqual([]);
  });
});

describe('headers', () => {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'x' };
  const call = enveloped(1, 'tools/call', { name: 'x', arguments: { region: 'eu' } });

  it('are checked if present, arguments by the tool’s schema', async () => {
    const { put, target } = serve();
    target.schema = { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    const outlet = put(structuredClone(call), headers);
    expect((await outlet.answer()).error).toMatchObject({ code: -32020 });
    expect(outlet.status).toBe(400);
    expect((await put(structuredClone(call), { ...headers, 'mcp-param-region': 'eu' }).answer()).result).toBeDefined();
    expect((await put(structuredClone(call)).answer()).result).toBeDefined();
  });

  it('that contradict the body’s version are a mismatch, even if the version is unsupported', async () => {
    const { put } = serve();
    const odd = enveloped(1, 'tools/list', {}, { [META.protocolVersion]: '1999-01-01' });
    expect((await put(odd, { 'mcp-protocol-version': '2026-07-28' }).answer()).error!.code).toBe(-32020);
  });
});

const status = (error: GatewayError) => (toStatelessError(error, 'x-1', false) as { status: number }).status;

test('an error that is not the client’s fault has status 200 and the exchange id in its body', () => {
  const closed = new GatewayError('UPSTREAM_CLOSED', { server: 'a', reason: 'gone' });
  expect(toStatelessError(closed, 'x-1', false)).toMatchObject({ status: 200, error: { data: { exchange: 'x-1' } } });
  expect(status(new GatewayError('STEP_MISUSED', { step: 'a', reason: 'b' }))).toBe(200);
  expect(status(new GatewayError('INTERNAL'))).toBe(200);
});

test('an error that is the client’s fault has the status of the table', () => {
  expect(status(new GatewayError('METHOD_NOT_FOUND', { method: 'm' }))).toBe(404);
  expect(status(new GatewayError('TOO_MANY', { what: 'calls', limit: 'maxInFlight' }))).toBe(429);
});
