// Plays a session with a server that sends nothing on its own.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../kernel/message.ts';
import { ProtocolError } from '../../kernel/base/errors.ts';
import { FlowRun } from './flow-run.ts';
import { PromptInbox } from './prompt-inbox.ts';

// With fake timers, so that nothing here waits.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const prompt = { type: 'text', message: 'Who?', promptId: 'name~1' };
const END = { state: 'completed', result: { success: true, data: 'done' } };

function playing(started: JsonObject, lost?: () => Promise<unknown>) {
  const asked: string[] = [];
  const request = async (method: string): Promise<JsonObject> => {
    asked.push(method);
    return method === 'interaction.getState' ? END : { accepted: true };
  };
  const session = {
    started: { sessionId: 's', initialPrompt: prompt, ...started },
    prompts: new PromptInbox(),
    request,
    lost,
  };
  return { asked, session };
}

it('a flow run checks at once what follows when its connection is lost', async () => {
  const { asked, session } = playing({}, async () => 'closed');
  const outcome = await new FlowRun(session, { onPrompt: () => 'Ada' }).play();
  expect(outcome).toMatchObject({ success: true, result: 'done' });
  expect(asked).toEqual(['interaction.respond', 'interaction.getState']);
});

it('a flow run sets no timer while its open question cannot be withdrawn', async () => {
  const { asked, session } = playing({}, async () => 'closed');
  let timers: number | undefined;
  const onPrompt = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    timers = vi.getTimerCount();
    return 'Ada';
  };
  await new FlowRun(session, { onPrompt }).play();
  expect(timers).toBe(0);
  expect(asked).toEqual(['interaction.respond', 'interaction.getState']);
});

it('a flow run whose answer came too late takes the result, though the server had repeated the question before it ended', async () => {
  const { session } = playing({});
  const late = new ProtocolError(-32003, 'Session s is completed: it cannot respond now');
  const request = async (method: string): Promise<JsonObject> => {
    if (method === 'interaction.respond') throw late;
    return session.request(method);
  };
  const onPrompt = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    session.prompts.hear('interaction.prompt', { prompt });
    return 'Ada';
  };
  const outcome = await new FlowRun({ ...session, request }, { onPrompt }).play();
  expect(outcome).toMatchObject({ success: true, result: 'done' });
});
