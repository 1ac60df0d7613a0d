import { revisionNamed } from '../../../mcp/eras/revisions.ts';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import { TASKS_EXTENSION } from '../../../kernel/extensions.ts';
import { describe, expect, it } from 'vitest';
import type { ClientView, Exchange } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { OutgoingCall, ServerView } from '../../../kernel/server-view.ts';
import { fieldOf } from '../../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../../kernel/raw/raw-object.ts';
import type { Change, TaskState } from '../../../kernel/target.ts';
import { ToolFacts } from '../../../kernel/tool-facts.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import { FakeClock, settled } from '../../../mcp/eras/fake-context.contract.ts';
import { FakeExchange } from '../../../kernel/fake-exchange.contract.ts';
import type { AskHandler } from '../questions/open-call.ts';
import { fakeCalls } from '../../../mcp/connect/fake-calls.contract.ts';
import { ServerCall } from '../server-call.ts';
import type { CallRules } from '../server-call.ts';
import { TaskBridge, delayAbort } from './task-bridge.ts';
import { runsTasks } from './task-support.ts';

const handshake = {
  ...SPEAKING.handshake,
  capabilities: { tasks: { requests: { tools: { call: {} } } } },
} as unknown as ServerView;
const stateless = {
  ...SPEAKING.stateless,
  info: { name: 's', version: '1' },
  capabilities: { extensions: { [TASKS_EXTENSION]: {} } },
} as unknown as ServerView;
const done = { content: [{ type: 'text', text: 'done' }] };
const task = (more: object = {}): JsonObject => ({
  taskId: 't',
  status: 'working',
  createdAt: '',
  lastUpdatedAt: '',
  ttlMs: null,
  pollIntervalMs: 1,
  ...more,
});

/** `answer` is the server. */
function setUp(
  server: ServerView,
  answer: (call: OutgoingCall, ask: AskHandler) => JsonObject | Promise<JsonObject>,
  tools: JsonObject[] = [],
) {
  const sent: OutgoingCall[] = [];
  const told: Change[] = [];
  const clock = new FakeClock();
  const book = new ToolFacts();
  if (tools.length > 0) book.learn({ tools }, true);
  const calls = fakeCalls({
    server,
    clock,
    async callRaw(call) {
      sent.push(call);
      return answer(call, (ask, signal) => call.ask!(ask, signal!));
    },
  });
  const tell = (change: Change): void => void told.push(change);
  const bridge = new TaskBridge({ tools: () => book, limits: DEFAULT_LIMITS, tell, calls });
  const rules = { toError: (thrown: unknown) => thrown, tasks: bridge } as unknown as CallRules;
  const callTool = (exchange: Exchange): Promise<ResultObject> =>
    new ServerCall(exchange, calls, { rules, taskServer: server }).send();
  const onTask = (state: JsonObject): boolean =>
    bridge.onTask(state as unknown as TaskState, calls.connections.all[0]!);
  return { bridge, callTool, onTask, sent, told, clock, leased: () => calls.leased };
}

function calling(client: Partial<ClientView>, given: { task?: Exchange['task']; name?: string } = {}) {
  return Object.assign(new FakeExchange('tools/call', { name: given.name ?? 'x' }, client), { task: given.task });
}

const methods = (sent: OutgoingCall[]) => sent.map(({ method }) => method);
const supporting = (taskSupport: string) => [{ name: 'x', execution: { taskSupport } }];

describe('a stateless client and a handshake server', () => {
  const modern = { ...SPEAKING.stateless };
  const able = { task: { requested: false } };

  it('a tool that supports tasks runs as one, and becomes a task for the client when it reports its status', async () => {
    let finish: (result: JsonObject) => void = () => {};
    const { bridge, callTool, onTask, sent, told, leased } = setUp(
      handshake,
      ({ method }) => {
        if (method === 'tools/call') return { task: task() };
        return new Promise((resolve) => (finish = resolve));
      },
      supporting('optional'),
    );
    const exchange = calling(modern, able);
    const created = callTool(exchange);
    await settled();
    expect(onTask(task({ statusMessage: 'on its way' }))).toBe(true);
    const { taskId, statusMessage } = fieldOf(await created, 'task') as TaskState;
    expect(statusMessage).toBe('on its way');
    finish({ ...done, _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't' } } });
    await settled();
    const state = new FakeExchange('tasks/get', { taskId }, modern);
    expect(await bridge.handle(state, handshake)).toMatchObject({ taskId, status: 'completed', result: done });
    expect(sent).toMatchObject([
      { method: 'tools/call', task: {} },
      { method: 'tasks/result', params: { taskId: 't' } },
    ]);
    expect(told.length).toBeGreaterThan(0);
    expect(leased()).toBe(0);
    expect(onTask(task())).toBe(false);
  });

  it('a question before the first status message is asked before there is a task', async () => {
    const { callTool, sent, clock } = setUp(
      handshake,
      async ({ method }, ask) => {
        if (method === 'tools/call') return { task: task() };
        if (method === 'tasks/get') return task({ status: 'input_required' });
        const params = { message: 'Sure?', task: { ttl: 1 }, _meta: { 'io.modelcontextprotocol/related-task': {} } };
        await ask({ method: 'elicitation/create', params });
        return done;
      },
      supporting('optional'),
    );
    const exchange = calling(modern, able);
    const called = callTool(exchange);
    await settled();
    clock.advance(40); // questions that come together are asked together
    expect(await called).toEqual(done);
    expect(exchange.sent).toEqual([{ method: 'elicitation/create', params: { message: 'Sure?' } }]);
    expect(methods(sent)).toEqual(['tools/call', 'tasks/result', 'tasks/get']);
  });

  it('a tool without task support is called directly, after its list was fetched', async () => {
    const { callTool, sent } = setUp(handshake, ({ method }) => {
      return method === 'tools/list' ? { tools: [{ name: 'x' }] } : done;
    });
    expect(await callTool(calling(modern, able))).toBe(done);
    expect(await callTool(calling(modern, able))).toBe(done);
    expect(methods(sent)).toEqual(['tools/list', 'tools/call', 'tools/call']);
  });

  it('without the extension, a tool that runs only as a task is refused before it is called', async () => {
    const { callTool, sent } = setUp(handshake, () => done, supporting('required'));
    await expect(callTool(calling(modern))).rejects.toMatchObject({ code: 'TASK_REQUIRED' });
    expect(sent).toEqual([]);
    const optional = setUp(handshake, () => done, supporting('optional'));
    expect(await optional.callTool(calling(modern))).toBe(done);
  });

  it('cancelling the task cancels it at the server', async () => {
    const { bridge, callTool, onTask, sent, leased } = setUp(
      handshake,
      ({ method, signal }) => {
        if (method === 'tools/call') return { task: task() };
        if (method === 'tasks/cancel') return {};
        return new Promise((_, reject) => {
          signal!.addEventListener('abort', () => reject(new GatewayError('CANCELLED')));
        });
      },
      supporting('optional'),
    );
    const created = callTool(calling(modern, able));
    await settled();
    onTask(task({ statusMessage: 'on its way' }));
    const { taskId } = fieldOf(await created, 'task') as TaskState;
    await bridge.handle(new FakeExchange('tasks/cancel', { taskId }, modern), handshake);
    await settled();
    expect(sent.at(-1)).toMatchObject({ method: 'tasks/cancel', params: { taskId: 't' }, signal: undefined });
    expect(leased()).toBe(0);
  });
});

describe('a handshake client and a stateless server', () => {
  const november = { revision: '2025-11-25' };
  const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };

  it('a client that requests a task gets one at once, whether or not the server creates one', async () => {
    for (const answer of [done, { task: task({ status: 'completed' }) }]) {
      const { bridge, callTool, sent } = setUp(stateless, ({ method }) =>
        method === 'tasks/get' ? task({ status: 'completed', result: done }) : answer,
      );
      const exchange = calling(november, { task: { requested: true, ttl: 5000 } });
      const created = fieldOf(await callTool(exchange), 'task') as TaskState;
      expect(created).toMatchObject({ status: 'working', ttlMs: 5000 });
      const { taskId } = created;
      const result = await bridge.handle(new FakeExchange('tasks/result', { taskId }, november), stateless);
      expect(result).toMatchObject({ ...done, _meta: { 'io.modelcontextprotocol/related-task': { taskId } } });
      expect(sent[0]).toMatchObject({ method: 'tools/call', capabilities: requiredCapabilities });
      const list = await bridge.handle(new FakeExchange('tasks/list', {}, november), stateless);
      expect((fieldOf(list, 'tasks') as TaskState[]).map((one) => one.taskId)).toEqual([taskId]);
    }
  });

  it('without a requested task the call is direct, and a task that the server requires is followed within the call', async () => {
    const plain = setUp(stateless, () => done);
    expect(await plain.callTool(calling(november))).toBe(done);
    expect(plain.sent[0]!.capabilities).toEqual({});

    const { callTool, sent } = setUp(stateless, ({ method, capabilities }) => {
      if (method === 'tasks/get') return task({ status: 'completed', result: done });
      if (!capabilities?.extensions) throw new ProtocolError(-32021, 'tasks!', { requiredCapabilities });
      return { task: task() };
    });
    expect(await callTool(calling(november))).toBe(done);
    expect(methods(sent)).toEqual(['tools/call', 'tools/call', 'tasks/get']);
  });

  it('other missing capabilities are reported to the client', async () => {
    const missing = new ProtocolError(-32021, 'no', { requiredCapabilities: { sampling: {} } });
    const { callTool } = setUp(stateless, () => Promise.reject(missing));
    await expect(callTool(calling(november))).rejects.toBe(missing);
  });

  it('the client sees that each tool may run as a task', () => {
    const { bridge } = setUp(stateless, () => done);
    const list = { tools: [{ name: 'a' }, { name: 'b', execution: { taskSupport: 'required' } }] };
    const exchange = new FakeExchange('tools/list', {}, november);
    expect(bridge.toList(list, exchange, stateless).tools).toEqual([
      { name: 'a', execution: { taskSupport: 'optional' } },
      { name: 'b', execution: { taskSupport: 'required' } },
    ]);
    expect(bridge.toList(list, exchange, handshake)).toBe(list);
    expect(bridge.toList(list, new FakeExchange('tools/list', {}, { ...SPEAKING.stateless }), stateless)).toBe(list);
  });
});

describe('client and server of one era', () => {
  it('tasks pass unchanged between a client and a server of one era', async () => {
    for (const server of [handshake, stateless]) {
      const { bridge, callTool, sent, leased } = setUp(server, () => done);
      const { dialect, era } = server;
      const client = { dialect, era, revision: '2025-11-25' };
      await callTool(calling(client, { task: { requested: true } }));
      await bridge.handle(new FakeExchange('tasks/get', { taskId: 't' }, client), server);
      expect(methods(sent)).toEqual(['tools/call', 'tasks/get']);
      expect(leased()).toBe(0);
    }
  });

  it('a client whose revision has no tasks waits for the end of a required task', async () => {
    const { callTool, sent } = setUp(
      handshake,
      ({ method }) => (method === 'tools/call' ? { task: task() } : done),
      supporting('required'),
    );
    const { era } = revisionNamed('2025-06-18')!;
    expect(await callTool(calling({ era, revision: '2025-06-18' }))).toBe(done);
    expect(methods(sent)).toEqual(['tools/call', 'tasks/result']);
  });
});

describe('whether a server runs tasks', () => {
  it('each era declares task support in its own way', () => {
    expect([handshake, stateless].map(runsTasks)).toEqual([true, true]);
    expect(runsTasks({ ...handshake, capabilities: { tasks: {} } })).toBe(false);
    expect(runsTasks({ ...stateless, capabilities: { tasks: { requests: { tools: { call: {} } } } } })).toBe(false);
    expect(runsTasks({ ...handshake, ...SPEAKING.draft })).toBe(false);
  });
});

describe('calling off a call that may create a task', () => {
  it('a cancellation is delayed so that the server can report the task id', () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const { signal } = delayAbort(controller.signal, clock);
    controller.abort();
    expect(signal.aborted).toBe(false);
    clock.advance(1000);
    expect(signal.aborted).toBe(true);
  });

  it('no timer or listener is left when the call is over', () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const { signal, end } = delayAbort(controller.signal, clock);
    controller.abort();
    end();
    expect(clock.timers).toBe(0);
    clock.advance(1000);
    expect(signal.aborted).toBe(false);
  });

  it('the delay counts from the start if the signal was already aborted', () => {
    const clock = new FakeClock();
    const { signal } = delayAbort(AbortSignal.abort(), clock);
    expect(clock.timers).toBe(1);
    clock.advance(1000);
    expect(signal.aborted).toBe(true);
  });
});
