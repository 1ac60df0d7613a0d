// A server that asks for a secret by its schema: the model is not offered the question, and what it says is no answer.
import { afterEach, expect, it } from 'vitest';
import { createServer } from '../../server/create-server.ts';
import { createLog } from '../../shared/log.ts';
import { testGateway } from '../../testing/test-gateway.ts';
import type { TestedGateway } from '../../testing/test-gateway.ts';

const log = createLog({ level: 'silent' });
let tested: TestedGateway | undefined;

afterEach(async () => {
  await tested?.close();
  tested = undefined;
});

const SECRETS = [
  { type: 'string', format: 'password' },
  { type: 'string', 'x-parley': 'secret' },
];

it.each(SECRETS)('%j never goes through a model', async (field) => {
  const taken: unknown[] = [];
  const server = createServer({ name: 'vault', version: '1', log });
  server.tool('unlock', {}, async (_, call) => {
    const requestedSchema = { type: 'object', properties: { pin: field }, required: ['pin'] };
    taken.push(
      await call.elicit({ message: 'The PIN?', requestedSchema } as never).catch((error: Error) => error.message),
    );
    return 'done';
  });
  tested = await testGateway({ servers: { vault: server }, ask: { channels: ['relay'] } });
  const told = JSON.stringify(await tested.client.callTool('unlock').catch((error: Error) => error.message));
  expect(told).not.toContain('The PIN?');
  expect(told).not.toContain('parley_answer');
  expect(JSON.stringify(taken)).not.toContain('accept');
});
