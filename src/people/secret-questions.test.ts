// A server that asks for a secret by its schema: the model is not offered the question, and what it says is not an answer.
import { afterEach, expect, it } from 'vitest';
import { createServer } from '../sdk/server/create-server.ts';
import type { JsonObject } from '../kernel/message.ts';
import { createLog } from '../kernel/base/log.ts';
import { testGateway } from '../testing/test-gateway.ts';
import type { TestedGateway } from '../testing/test-gateway.ts';

const log = createLog({ level: 'silent' });
let tested: TestedGateway | undefined;

afterEach(async () => {
  await tested?.close();
  tested = undefined;
});

async function askModelFor(field: JsonObject): Promise<string> {
  const server = createServer({ name: 'vault', version: '1', log });
  server.tool('unlock', {}, async (_, call) => {
    await call.ask.elicit({ message: 'The PIN?', schema: { pin: field } });
    return 'done';
  });
  tested = await testGateway({ servers: { vault: server }, ask: { channels: ['relay'] } });
  return JSON.stringify(await tested.client.callTool('unlock').catch((error: Error) => error.message));
}

it('asks a model for what is not a secret', async () => {
  const told = await askModelFor({ type: 'string' });
  expect(told).toContain('The PIN?');
  expect(told).toContain('parley_answer');
});

it.each<JsonObject>([
  { type: 'string', format: 'password' },
  { type: 'string', 'x-parley': 'secret' },
])('never asks a model for %j', async (field) => {
  const told = await askModelFor(field);
  expect(told).not.toContain('The PIN?');
  expect(told).not.toContain('parley_answer');
});
