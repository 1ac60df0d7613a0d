// Declining a question means the same in every channel, MCP Flow included.
import { describe, expect, it } from 'vitest';
import { connect } from '../sdk/client/connect.ts';
import { flow } from '../flow/define.ts';
import { unanswered } from '../flow/testing/play-flow.ts';
import { serveFlows } from '../flow/wire/serve-flows.ts';
import type { JsonObject } from '../kernel/message.ts';
import { createServer } from '../sdk/server/create-server.ts';
import { createLog } from '../kernel/base/log.ts';
import { memoryPair } from './memory-pair.ts';
import { testFlow } from './test-flow.ts';

const survey = flow({ name: 'survey' }, async (ask) => {
  const name = await ask.text('name', { required: false, alone: true });
  const photo = await ask.file('photo', { required: false, alone: true });
  const ok = await ask.confirm('ok', { alone: true });
  const age = await ask.try(ask.number('age', { alone: true }));
  return { name: name ?? 'nobody', photo: photo?.name ?? 'none', ok, age: age.ok ? age.value : age.reason };
});

const DECLINED = { name: unanswered(), photo: unanswered(), ok: unanswered(), age: unanswered() };
const RESULT = { name: 'nobody', photo: 'none', ok: false, age: 'declined' };

it('declining in testFlow is what a server does', async () => {
  expect((await testFlow(survey).answer(DECLINED)).result).toEqual(RESULT);
});

it.each(['flow', 'form', 'page'] as const)(
  'a declined question in the channel %s does not end the session',
  async (kind) => {
    const played = await testFlow(survey).asClient(kind).answer(DECLINED);
    expect(played).toMatchObject({ isError: false, result: RESULT });
  },
);

describe('on the wire', () => {
  const asked = async () => {
    const log = createLog({ level: 'silent' });
    const server = createServer({ name: 's', version: '1', log });
    serveFlows(server, [survey]);
    const [ours, theirs] = memoryPair();
    await server.connect(theirs);
    const client = await connect(ours, { revision: '2026-07-28', log });
    const { sessionId } = (await client.request('interaction.start', { toolName: 'survey' })) as { sessionId: string };
    const respond = (promptId: string, response: JsonObject) =>
      client.request('interaction.respond', { sessionId, promptId, response });
    return { respond, close: () => server.close() };
  };

  it('a declined answer is metadata.action on the wire, with or without a value', async () => {
    const { respond, close } = await asked();
    const metadata = { action: 'decline' };
    await respond('name~1', { metadata });
    await respond('photo~1', { value: null, metadata });
    await respond('ok~1', { value: true, metadata });
    const { next } = (await respond('age~1', { metadata })) as { next: { result: unknown } };
    expect(next.result).toMatchObject({ success: true, data: RESULT });
    await close();
  });

  it('closing a question ends the session', async () => {
    const { respond, close } = await asked();
    const { next } = (await respond('name~1', { metadata: { action: 'cancel' } })) as { next: JsonObject };
    expect(next).toMatchObject({ state: 'cancelled' });
    await close();
  });
});
