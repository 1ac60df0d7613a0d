import type { Transport } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import type { JsonObject } from '../kernel/message.ts';
import { createServer } from '../sdk/server/create-server.ts';
import { createLog } from '../kernel/base/log.ts';
import { memoryPair } from '../testing/memory-pair.ts';
import { createGateway } from './gateway.ts';

const log = createLog({ level: 'silent' });
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

/** A client that is no more than its messages. */
async function rawClient(transport: Transport) {
  const waiting: { isIt: (message: JsonObject) => boolean; resolve: (message: JsonObject) => void }[] = [];
  const got: JsonObject[] = [];
  transport.onmessage = (message) => {
    got.push(message);
    for (const { isIt, resolve } of waiting) if (isIt(message)) resolve(message);
  };
  await transport.start();
  const until = (isIt: (message: JsonObject) => boolean): Promise<JsonObject> =>
    new Promise((resolve) => {
      const known = got.find(isIt);
      if (known) resolve(known);
      else waiting.push({ isIt, resolve });
    });
  const send = (id: number, method: string, params: JsonObject) =>
    transport.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: envelope } });
  return { send, until };
}

it('a task of a stateless server is reported to the stateless client that listens for it', async () => {
  const server = createServer({ name: 'jobs', version: '1', log });
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  server.tool('job', { task: 'required' }, async () => {
    await finished;
    return 'done';
  });
  const [near, far] = memoryPair();
  await server.connect(far);
  const gateway = createGateway({ servers: { jobs: { server: near, revision: '2026-07-28' } }, log });
  const [ours, theirs] = memoryPair();
  await gateway.connect(theirs);
  const { send, until } = await rawClient(ours);

  await send(1, 'tools/call', { name: 'job', arguments: {} });
  const { taskId } = (await until(({ id }) => id === 1)).result as { taskId: string };
  await send(2, 'subscriptions/listen', { notifications: { taskIds: [taskId, 'nobody knows this one'] } });
  const acknowledged = await until(({ method }) => method === 'notifications/subscriptions/acknowledged');
  expect(acknowledged.params).toMatchObject({ notifications: { taskIds: [taskId] } });
  finish();
  const told = await until(
    ({ method, params }) => method === 'notifications/tasks' && (params as JsonObject).status === 'completed',
  );
  expect(told.params).toMatchObject({ taskId, status: 'completed', result: { content: [{ text: 'done' }] } });
  await gateway.close();
  await server.close();
});
