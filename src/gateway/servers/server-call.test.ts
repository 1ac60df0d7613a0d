import { SPEAKING } from '../../mcp/eras/fake-views.contract.ts';
import { TASKS_EXTENSION } from '../../kernel/extensions.ts';
import { describe, expect, it } from 'vitest';
import type { ClientView } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { ServerView } from '../../kernel/server-view.ts';
import { FakeExchange } from '../../kernel/fake-exchange.contract.ts';
import { fakeCalls } from '../../mcp/connect/fake-calls.contract.ts';
import { ServerCall } from './server-call.ts';
import type { CallRules } from './server-call.ts';
import { ServerRequest } from './server-request.ts';
import type { CallOverrides } from './server-request.ts';

/** One connection, and calls of several users on it. */
function setUp(callRaw: () => Promise<ResultObject>) {
  const calls = fakeCalls({ server: { ...SPEAKING.handshake }, callRaw });
  return {
    calls,
    send: (method = 'tools/call', params: JsonObject = { name: 'a' }, principal = 'p') =>
      new ServerCall(new FakeExchange(method, params, { principal }), calls).send(),
    restart: () => calls.connections.all.forEach((one) => calls.connections.taskOwners.forget(one)),
  };
}

describe('the connection of a call', () => {
  it('is released when the call has its answer', async () => {
    const { calls, send } = setUp(async () => ({ content: [] }));
    expect(await send()).toEqual({ content: [] });
    expect([calls.leased, calls.released]).toEqual([0, 1]);
  });

  it.each([
    [
      'at once',
      () => {
        throw new TypeError('no name');
      },
    ],
    ['later', () => Promise.reject(new TypeError('no name'))],
  ])('is released when sending fails %s', async (_, callRaw) => {
    const { calls, send } = setUp(callRaw);
    await expect(send()).rejects.toThrow('no name');
    expect([calls.leased, calls.released]).toEqual([0, 1]);
  });

  it("after a restart, an old task whose id another user's task reuses is unknown", async () => {
    const { send, restart } = setUp(async () => ({ task: { taskId: 'task-1' } }));
    await send('tools/call', { name: 'a' }, 'alice');
    expect(await send('tasks/get', { taskId: 'task-1' }, 'alice')).toBeDefined();
    restart();
    await send('tools/call', { name: 'a' }, 'bob');
    await expect(send('tasks/get', { taskId: 'task-1' }, 'alice')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    expect(await send('tasks/get', { taskId: 'task-1' }, 'bob')).toBeDefined();
  });
});

function called(client: Partial<ClientView>, to: ServerView['dialect'], more: object = {}, wanted?: CallOverrides) {
  const exchange = Object.assign(new FakeExchange('tools/call', { name: 'x', task: { ttl: 1 } }, client), more);
  const whole = new ServerCall(
    exchange,
    fakeCalls({ server: { ...SPEAKING[to], capabilities: {} }, callRaw: async () => ({}) }),
  );
  void whole.lease();
  return { exchange, call: new ServerRequest(whole, wanted) };
}

describe('a call to a stateless server', () => {
  it('mirrors a stateless client exactly', () => {
    const capabilities = { sampling: {}, extensions: { [TASKS_EXTENSION]: {} }, odd: { kept: true } };
    const info = { name: 'them', version: '2' };
    const { call } = called({ ...SPEAKING.stateless, capabilities, info }, 'stateless', { logLevel: 'debug' });
    expect(call).toMatchObject({ info, logLevel: 'debug', timeoutMs: 5 });
    expect(call.capabilities).toBe(capabilities);
    expect(called({ ...SPEAKING.stateless }, 'stateless').call.logLevel).toBeUndefined();
  });

  it('declares of a handshake client what its revision can answer, and a level', () => {
    const capabilities = {
      sampling: { tools: {} },
      elicitation: { form: {}, url: {} },
      roots: { listChanged: true },
      tasks: { list: {} },
      extensions: { [TASKS_EXTENSION]: {}, ui: {} },
    };
    const declared = (revision: string) =>
      called({ capabilities, revision }, 'stateless').call.capabilities as JsonObject;
    const always = { roots: {}, extensions: { ui: {} } };
    expect(declared('2025-11-25')).toEqual({ ...always, sampling: { tools: {} }, elicitation: { form: {}, url: {} } });
    expect(declared('2025-06-18')).toEqual({ ...always, sampling: {}, elicitation: {} });
    expect(declared('2025-03-26')).toEqual({ ...always, sampling: {} });
    expect(called({}, 'stateless').call.logLevel).toBe('info');
    expect(called({}, 'stateless', { logLevel: 'error' }).call.logLevel).toBe('error');
    expect(called({ ...SPEAKING.draft, capabilities }, 'stateless').call).toMatchObject({ capabilities: {} });
  });

  it('a task is allowed only if the gateway follows it', () => {
    const { call } = called({}, 'stateless', {}, { mayBecomeTask: true });
    expect(call.capabilities).toEqual({ extensions: { [TASKS_EXTENSION]: {} } });
  });
});

describe('a call to a handshake server', () => {
  it('a call does not repeat what the connection declared', () => {
    const { call } = called({ capabilities: { sampling: {} } }, 'handshake', { logLevel: 'debug' });
    expect([call.capabilities, call.info, call.logLevel]).toEqual([undefined, undefined, undefined]);
  });

  it('asks for a task where the client did, and never by a stray parameter', () => {
    expect(called({}, 'handshake', { task: { requested: true, ttl: 9 } }).call.task).toEqual({ ttl: 9 });
    expect(called({}, 'handshake', { task: { requested: false } }).call.task).toBeUndefined();
    const stateless = called({ ...SPEAKING.stateless }, 'handshake', { task: { requested: false } }).call;
    expect(stateless.params).toEqual({ name: 'x' });
  });

  it('can be another call on behalf of the exchange', () => {
    const wanted = { method: 'tasks/get', params: { taskId: 't' }, signal: undefined };
    const { call, exchange } = called({}, 'handshake', { task: { requested: true }, wantsProgress: true }, wanted);
    expect(call).toMatchObject({ method: 'tasks/get', params: { taskId: 't' } });
    expect([call.signal, call.task]).toEqual([undefined, undefined]);
    expect(called({}, 'handshake').call.signal).toBeInstanceOf(AbortSignal);
    call.onProgress!({ progress: 1 });
    call.onLog({ level: 'info', data: 1 });
    call.onNotify({ jsonrpc: '2.0', method: 'n', params: { a: 1 } });
    expect(called({}, 'handshake').call.onProgress).toBeUndefined();
    expect(exchange.sent).toEqual([{ progress: 1 }, { level: 'info', data: 1 }, { method: 'n', params: { a: 1 } }]);
  });
});

describe('a failed result that names what the client lacked', () => {
  const meta = { 'mcp-parley/required-capabilities': { sampling: {} } };
  const result = { content: [], isError: true, _meta: meta };
  const answer = (given: JsonObject, dialect: ClientView['dialect']) => {
    const calls = fakeCalls({ server: { ...SPEAKING.handshake }, callRaw: async () => given });
    const rules = { toError: (thrown: unknown) => thrown } as unknown as CallRules;
    return new ServerCall(new FakeExchange('tools/call', {}, SPEAKING[dialect]), calls, { rules }).send();
  };

  it('is an error to a stateless client', async () => {
    await expect(answer(result, 'stateless')).rejects.toMatchObject({
      code: 'CLIENT_CANNOT_BE_ASKED',
      details: { what: 'sampling' },
    });
    for (const other of [
      { content: [], _meta: meta },
      { content: [], isError: true },
      { ...result, _meta: {} },
    ]) {
      expect(await answer(other, 'stateless')).toBe(other);
    }
  });

  it('passes to others as it is', async () => {
    expect(await answer(result, 'handshake')).toBe(result);
  });
});
