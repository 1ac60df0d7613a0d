import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { SPEAKING } from '../eras/fake-views.contract.ts';
import type { Ask } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { OutgoingCall } from '../../kernel/server-view.ts';
import type { TaskState } from '../../kernel/target.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { followTask } from './follow-task.ts';
import type { FollowTaskOptions } from './follow-task.ts';

const state = (status: string, more: object = {}): TaskState =>
  ({ taskId: 't', status, createdAt: '', lastUpdatedAt: '', ttlMs: null, pollIntervalMs: 1, ...more }) as TaskState;
const question = { method: 'elicitation/create', params: { message: 'Which?' } };

interface Given {
  dialect?: 'handshake' | 'stateless';
  /** Answers of tasks/get, one after the other; the last one stays. Errors are thrown. */
  states: (TaskState | Error)[];
  answer?: (ask: Ask) => unknown;
  other?: (call: OutgoingCall) => unknown;
  options?: FollowTaskOptions;
}

function follow({
  dialect = 'stateless',
  states,
  answer = () => ({ action: 'accept' }),
  other = () => ({}),
  options = {},
}: Given) {
  const calls: { method: string; params: JsonObject | undefined }[] = [];
  const host = {
    server: { ...SPEAKING[dialect], revision: 'x', info: { name: 's', version: '1' }, capabilities: {} } as const,
    async call(call: OutgoingCall): Promise<JsonObject> {
      calls.push({ method: call.method, params: call.params });
      if (call.method !== 'tasks/get') return (await other(call)) as JsonObject;
      const next = states.length > 1 ? states.shift() : states[0];
      if (next instanceof Error) throw next;
      return next as unknown as JsonObject;
    },
  };
  const answers = { answer: async (ask: Ask) => (await answer(ask)) as JsonObject };
  const result = followTask(host, answers, state('working'), options);
  result.catch(() => {}); // looked at later
  return { calls, result, methods: () => calls.map(({ method }) => method) };
}

describe('a task of the stateless era', () => {
  test('a task is polled to its end, and every state is reported', async () => {
    const seen: string[] = [];
    const { result } = follow({
      states: [state('working'), state('completed', { result: { content: [] } })],
      options: { onTask: ({ status }) => seen.push(status) },
    });
    expect(await result).toEqual({ content: [] });
    expect(seen).toEqual(['working', 'working', 'completed']);
  });

  test('has each question answered once, though the server takes its time to notice', async () => {
    const asked: unknown[] = [];
    const asking = state('input_required', { inputRequests: { k: question } });
    const { result, calls } = follow({
      states: [asking, asking, asking, state('completed', { result: {} })],
      answer: ({ key }) => ({ answered: asked.push(key) }),
    });
    await result;
    expect(asked).toEqual(['k']);
    expect(calls.filter(({ method }) => method === 'tasks/update')).toEqual([
      { method: 'tasks/update', params: { taskId: 't', inputResponses: { k: { answered: 1 } } } },
    ]);
  });

  test('a task whose question is refused is cancelled', async () => {
    const { result, methods } = follow({
      states: [state('input_required', { inputRequests: { k: question } })],
      answer() {
        throw new GatewayError('NOT_APPROVED', { what: 'elicitation' });
      },
    });
    await expect(result).rejects.toMatchObject({ code: 'NOT_APPROVED' });
    expect(methods()).toEqual(['tasks/get', 'tasks/cancel']);
  });

  test.each([
    ['failed with an error', state('failed', { error: { code: -5, message: 'no', data: 1 } }), { code: -5, data: 1 }],
    ['failed without one', state('failed', { statusMessage: 'why' }), { code: -32603, message: 'why' }],
    ['cancelled', state('cancelled'), { code: 'CANCELLED' }],
    ['completed without a result', state('completed'), { code: 'UPSTREAM_INVALID' }],
  ])('that %s rejects, and is not called off', async (_, end, error) => {
    const { result, methods } = follow({ states: [end] });
    await expect(result).rejects.toMatchObject(error);
    expect(methods()).toEqual(['tasks/get']);
  });

  test('in a state that does not exist is an error, not an endless poll', async () => {
    const { result } = follow({ states: [state('napping')] });
    await expect(result).rejects.toMatchObject({ code: 'UPSTREAM_INVALID' });
  });
});

describe('a task of the handshake era', () => {
  test('delivers its questions and its result by tasks/result', async () => {
    const { result, methods } = follow({
      ...SPEAKING.handshake,
      states: [state('input_required'), state('completed')],
      other: () => ({ content: ['x'] }),
    });
    expect(await result).toEqual({ content: ['x'] });
    expect(methods()).toEqual(['tasks/get', 'tasks/result', 'tasks/get', 'tasks/result']);
  });

  test('that waits for input while tasks/result fails is polled at its pace', async () => {
    let looks = 0;
    const { result } = follow({
      ...SPEAKING.handshake,
      states: [state('input_required'), state('input_required'), state('completed')],
      other() {
        if (++looks < 3) throw new GatewayError('UPSTREAM_TIMEOUT', { server: 'x', method: 'y', ms: 1, why: '' });
        return { content: [] };
      },
    });
    expect(await result).toEqual({ content: [] });
  });
});

describe('giving up', () => {
  test('giving up cancels the task, and leaves no listener on the signal', async () => {
    const controller = new AbortController();
    const { result, methods } = follow({
      states: [state('working', { pollIntervalMs: 60_000 })],
      options: { signal: controller.signal },
    });
    await vi.waitUntil(() => methods().length > 0, { timeout: 50_000 }); // into the long wait between two polls
    controller.abort();
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(methods().at(-1)).toBe('tasks/cancel');
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  test('giving up works while a question is open', async () => {
    const controller = new AbortController();
    const { result, methods } = follow({
      states: [state('input_required', { inputRequests: { k: question } })],
      answer() {
        controller.abort();
        return new Promise(() => {});
      },
      options: { signal: controller.signal },
    });
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(methods()).toEqual(['tasks/get', 'tasks/cancel']);
  });

  test("the caller's time limit ends the task", async () => {
    const { result, methods } = follow({ states: [state('working')], options: { maxTimeoutMs: 30 } });
    await expect(result).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(methods().at(-1)).toBe('tasks/cancel');
  });

  test('giving up is reported even if the task cannot be cancelled', async () => {
    const { result } = follow({
      states: [state('working')],
      options: { signal: AbortSignal.abort() },
      other() {
        throw new Error('already ended');
      },
    });
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});

describe('a server out of reach', () => {
  const outage = () => new GatewayError('UPSTREAM_UNREACHABLE', { server: 'x', reason: 'HTTP 503', status: 503 });

  test('a short outage does not affect the task', async () => {
    const { result } = follow({ states: [outage(), outage(), state('completed', { result: { ok: true } })] });
    expect(await result).toEqual({ ok: true });
  });

  test('a longer outage is reported', async () => {
    const { result, methods } = follow({ states: [outage()] });
    await expect(result).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
    expect(methods()).toEqual([...Array(5).fill('tasks/get'), 'tasks/cancel']);
  });
});
