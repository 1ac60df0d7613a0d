// Questions, links and tasks through a gateway, for every pair of eras: what the server asks reaches the client whose call
// caused it, in that client's words, and the answer comes back.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectOptions } from 'mcp-parley';
import { bridge, PAIRS } from '../helpers/bridge.ts';
import type { Bridge } from '../helpers/bridge.ts';
import { textOf } from '../helpers/fixture-server.ts';
import { until, within } from '../helpers/until.ts';
import type { TaskState } from '../../src/kernel/target.ts';

const answering: ConnectOptions = {
  onElicit: ({ message }) => ({ action: 'accept', content: { city: 'Oslo', name: 'Ann', a: message, ok: true } }),
  onSample: () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'Hi' } }),
  roots: [{ uri: 'file:///srv' }],
};

describe.each(PAIRS)('client $client, server $server over $upstream', (pair) => {
  let between: Bridge;
  /** The same without any other way to a person than the client's own. */
  let silent: Bridge;

  beforeAll(async () => {
    [between, silent] = await Promise.all([bridge(pair), bridge(pair, {}, { ask: { channels: [] } })]);
  });
  afterAll(async () => {
    await between?.[Symbol.asyncDispose]();
    await silent?.[Symbol.asyncDispose]();
  });

  test('forms: accepted, declined, cancelled', async () => {
    for (const action of ['accept', 'decline', 'cancel'] as const) {
      await using client = await between.connect({
        onElicit: () => (action === 'accept' ? { action, content: { city: 'Oslo' } } : { action }),
      });
      expect(await textOf(client, 'ask')).toBe(action === 'accept' ? 'accept Oslo' : action);
    }
  });

  test('several questions at once, and one after the other', async () => {
    await using client = await between.connect(answering);
    expect(await textOf(client, 'ask-three')).toBe('Ann Hi file:///srv');
    expect(await textOf(client, 'ask-twice')).toBe('First? Second?');
  });

  test('questions of two clients at once reach each its own', async () => {
    const asking = async (city: string) => {
      const client = await between.connect({ onElicit: () => ({ action: 'accept', content: { city } }) });
      return Promise.all([textOf(client, 'ask'), textOf(client, 'ask')]);
    };
    const cities = ['Oslo', 'Rome', 'Lima'];
    expect(await Promise.all(cities.map(asking))).toEqual(cities.map((city) => [`accept ${city}`, `accept ${city}`]));
  });

  test('a client that cannot be asked gets a failed call in the form of its era, and nothing else fails', async () => {
    await using client = await silent.connect();
    const outcome = await within(
      'the call',
      client.callTool('ask').catch((error: unknown) => error),
    );
    if (pair.client === '2026-07-28') {
      const data = { requiredCapabilities: { elicitation: expect.anything() } };
      expect(outcome).toMatchObject({ code: -32021, data });
    } else expect(outcome).toMatchObject({ isError: true });
    expect(await textOf(client, 'echo', { text: 'still here' })).toBe('still here');
  });

  test('a call that asks and is cancelled meanwhile is over for everybody', async () => {
    const controller = new AbortController();
    let asked = false;
    await using client = await between.connect({
      onElicit: () => {
        asked = true;
        return new Promise(() => {});
      },
    });
    const call = client.callTool('ask', {}, { signal: controller.signal }).catch((error: unknown) => error);
    await until('the question', () => asked);
    controller.abort();
    expect(await within('the end of the call', call)).toMatchObject({ code: 'CANCELLED' });
    expect(await textOf(client, 'echo', { text: 'next' })).toBe('next');
  });

  test('a call that becomes a task is followed to its end, whatever kind of task it is', async () => {
    await using client = await between.connect(answering);
    await client.listTools();
    const states: TaskState['status'][] = [];
    const options = { task: true, onTask: ({ status }: TaskState) => void states.push(status) };
    const { content } = await within('the task', client.callTool('slow', {}, options));
    expect(content).toMatchObject([{ text: 'slow but done' }]);
    expect(states.at(-1)).toBe('completed');
    expect((await within('the job', client.callTool('job', {}, { task: true }))).content).toMatchObject([
      { text: 'ok: true' },
    ]);
  });

  test('calling off a task calls it off at the server', async () => {
    await using client = await between.connect(answering);
    await client.listTools();
    const before = Number(await textOf(client, 'cancelled'));
    const controller = new AbortController();
    const onTask = () => controller.abort();
    const call = client.callTool('endless', {}, { task: true, onTask, signal: controller.signal });
    await expect(within('the call', call)).rejects.toMatchObject({ code: 'CANCELLED' });
    await until('the server to notice', async () => Number(await textOf(client, 'cancelled')) > before);
  });

  test('a task belongs to its client alone', async () => {
    await using client = await between.connect(answering);
    await client.listTools();
    let taskId: string | undefined;
    const controller = new AbortController();
    const onTask = (task: TaskState) => void (taskId = task.taskId);
    const call = client.callTool('endless', {}, { task: true, onTask, signal: controller.signal }).catch(() => {});
    await until('the task', () => taskId);
    await expect(client.request('tasks/get', { taskId })).resolves.toMatchObject({ taskId, status: 'working' });
    await expect(client.request('tasks/get', { taskId: `${taskId}x` })).rejects.toMatchObject({ code: -32602 });
    if (pair.client === '2025-11-25') {
      const { tasks } = await client.request('tasks/list');
      expect((tasks as TaskState[]).map((task) => task.taskId)).toContain(taskId);
      await using other = await between.connect(answering);
      await expect(other.request('tasks/get', { taskId })).rejects.toMatchObject({ code: -32602 });
      expect((await other.request('tasks/list')).tasks).toEqual([]);
    }
    controller.abort();
    await within('the call', call);
  });
});

describe.each(PAIRS.filter(({ server }) => server === '2025-11-25'))('client $client, $upstream: -32042', (pair) => {
  test('sends the user to a page; the call is made again where the era has no such error', async () => {
    await using between = await bridge(pair);
    const seen: unknown[] = [];
    await using client = await between.connect({
      elicitUrls: true,
      onElicit: (request) => {
        seen.push(request);
        return { action: 'accept' };
      },
    });
    if (pair.client === '2026-07-28') {
      expect(await textOf(client, 'visit')).toBe('visited');
      expect(seen).toMatchObject([{ mode: 'url', url: 'https://example.com/login', message: 'Log in' }]);
    } else {
      await expect(client.callTool('visit')).rejects.toMatchObject({ code: -32042 });
    }
  });
});
