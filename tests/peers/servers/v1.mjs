// The reference server, written with the official SDK v1.
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { FORM, NAME, PROMPT, QUESTION, RESOURCES, TEMPLATE, TOOLS } from './reference.mjs';
import { greeting, named, note, pageOfResources, startingWith, text } from './reference.mjs';
import { Waits } from './waits.mjs';

const CAPABILITIES = {
  logging: {},
  resources: { subscribe: true, listChanged: true },
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
};

/** `related` is false where the answer to a POST has no room for anything but the result. */
export function createV1Server({ related = true } = {}) {
  const server = new McpServer(
    { name: NAME, version: '1.0.0' },
    { capabilities: CAPABILITIES, instructions: 'For tests', taskStore: new InMemoryTaskStore() },
  );
  addTools(server, related);
  addAsks(server, related);
  addTask(server);
  addResources(server);
  const name = completable(z.string(), startingWith);
  server.registerPrompt(PROMPT, { argsSchema: { name } }, (args) => ({ messages: greeting(args.name) }));
  return server;
}

function addTools(server, related) {
  const waits = new Waits();
  const tool = (name, options, handler) => server.registerTool(name, { description: TOOLS[name], ...options }, handler);
  const notify = (extra, notification) =>
    related ? extra.sendNotification(notification) : server.server.notification(notification);
  tool('echo', { inputSchema: { text: z.string() } }, (args) => text(args.text));
  const [number, key] = [z.number(), { inputSchema: { key: z.string() } }];
  tool('sum', { inputSchema: { a: number, b: number }, outputSchema: { sum: number } }, ({ a, b }) => {
    return { ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } };
  });
  tool('fail', {}, () => {
    throw new Error('It failed');
  });
  tool('go', key, (args) => {
    waits.release(args.key);
    return text('');
  });
  tool('count', { inputSchema: { to: number, key: z.string() } }, async ({ to, key }, extra) => {
    const { progressToken } = extra._meta ?? {};
    for (let step = 1; step <= to; step++) {
      const params = { progressToken, progress: step, total: to, message: `step ${step}` };
      await notify(extra, { method: 'notifications/progress', params });
    }
    await waits.hold(key);
    return text('counted');
  });
  tool('wait', key, (args, extra) => waits.wait(args.key, extra.signal));
  tool('waiting', key, (args) => waits.started(args.key).then(() => text('yes')));
  tool('aborted', key, (args) => waits.aborted(args.key).then(() => text('yes')));
  tool('log', { inputSchema: { level: z.string(), text: z.string() } }, async (args, extra) => {
    await notify(extra, { method: 'notifications/message', params: { level: args.level, data: args.text } });
    return text('logged');
  });
  tool('touch', { inputSchema: { uri: z.string() } }, async ({ uri }) => {
    await server.server.sendResourceUpdated({ uri });
    return text('touched');
  });
  tool('grow', {}, () => {
    server.sendToolListChanged();
    return text('changed');
  });
}

function addAsks(server, related) {
  const relation = ({ requestId }) => (related ? { relatedRequestId: requestId } : {});
  const tool = (name, handler) => server.registerTool(name, { description: TOOLS[name] }, handler);
  tool('ask_name', async (extra) => named(await server.server.elicitInput(FORM, relation(extra))));
  tool('ask_model', async (extra) => {
    const { content } = await server.server.createMessage(QUESTION, relation(extra));
    return text(content.text);
  });
  tool('ask_roots', async (extra) => {
    const { roots } = await server.server.listRoots(undefined, relation(extra));
    return text(roots.map(({ uri }) => uri).join(' '));
  });
}

function addTask(server) {
  const options = { description: 'Works for a while', inputSchema: {}, execution: { taskSupport: 'optional' } };
  server.experimental.tasks.registerToolTask('work', options, {
    async createTask(_args, { taskStore, taskRequestedTtl }) {
      const task = await taskStore.createTask({ ttl: taskRequestedTtl ?? 60_000, pollInterval: 50 });
      setImmediate(() => taskStore.storeTaskResult(task.taskId, 'completed', text('worked')));
      return { task };
    },
    getTask: (_args, { taskId, taskStore }) => taskStore.getTask(taskId),
    getTaskResult: (_args, { taskId, taskStore }) => taskStore.getTaskResult(taskId),
  });
}

function addResources(server) {
  for (const uri of RESOURCES) server.registerResource(uri, uri, {}, () => note(uri));
  const template = new ResourceTemplate(TEMPLATE, { list: undefined, complete: { author: startingWith } });
  server.registerResource('notes', template, {}, (uri) => note(uri.href));
  server.server.setRequestHandler(types.ListResourcesRequestSchema, ({ params }) => pageOfResources(params?.cursor));
  server.server.setRequestHandler(types.SubscribeRequestSchema, () => ({}));
  server.server.setRequestHandler(types.UnsubscribeRequestSchema, () => ({}));
}
