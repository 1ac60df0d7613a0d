// Tools that know nothing of MCP Flow, played over it through the gateway: whatever their servers ask, on any channel, comes as a
// prompt of a session. Real servers on stdio and HTTP, in both eras.
import { expect, test } from 'vitest';
import { createLog } from 'mcp-parley';
import { CANCEL, connectFlows } from 'mcp-parley/flow';
import type { FlowClient, FlowClientOptions } from 'mcp-parley/flow';
import { PAIRS, bridge } from '../helpers/bridge.ts';
import type { Bridge } from '../helpers/bridge.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { within } from '../helpers/until.ts';

const QUIET = createLog({ level: 'silent' });

async function playing({ url }: Bridge, options: FlowClientOptions): Promise<FlowClient> {
  return within('connect', connectFlows(url, { log: QUIET, ...options }));
}

test.each(PAIRS)('$client before the gateway, $server on $upstream behind it', async (pair) => {
  await using behind = await bridge(pair);
  await using client = await playing(behind, { revision: pair.client });
  const asked: string[] = [];
  const answers = ['Oslo', 'one', 'two', true, false];
  const play = async (tool: string, params = {}) => {
    const onPrompt = ({ message }: { message: string }) => (asked.push(message), answers.shift());
    return within(tool, client.run(tool, params, { onPrompt }));
  };
  expect(await client.isInteractive()).toBe(true);
  expect(await play('ask')).toMatchObject({ success: true, interactive: true, summary: 'accept Oslo' });
  expect(await play('ask-twice')).toMatchObject({ success: true, summary: 'one two' });
  expect(asked).toEqual(['Which city?', 'First?', 'Second?']);
  expect(await play('echo', { text: 'hi' })).toMatchObject({ success: true, summary: 'hi' });
  expect(await play('visit')).toMatchObject({ success: true, summary: 'visited' });
  expect(asked.at(-1)).toBe('Log in\nhttps://example.com/login');
  expect(await play('job')).toMatchObject({ success: true, summary: 'ok: false' });
  expect(await play('fail')).toMatchObject({ success: false });
});

test('no to a question, a wrong answer, and no to all of it', async () => {
  await using behind = await bridge({ client: '2025-11-25', server: '2025-11-25', upstream: 'stdio' });
  const { wire, socket } = await socketWire(Number(new URL(behind.url).port));
  await wire.initialize();
  const start = async (toolName: string) => {
    const { result } = await wire.request('interaction.start', { toolName });
    const { sessionId } = result as { sessionId: string };
    const prompt = await wire.find('a prompt', ({ method, params }) => {
      return method === 'interaction.prompt' && params?.sessionId === sessionId;
    });
    return { sessionId, prompt };
  };
  const declined = await start('ask');
  expect(declined.prompt.params).toMatchObject({ prompt: { type: 'text', message: 'Which city?' } });
  const response = { value: null, metadata: { action: 'decline' } };
  await wire.request('interaction.respond', { sessionId: declined.sessionId, response });
  const end = await wire.find('the end', ({ method }) => method === 'interaction.complete');
  expect(end.params).toMatchObject({ sessionId: declined.sessionId, summary: 'decline' });

  const { sessionId } = await start('ask');
  const wrong = await wire.request('interaction.respond', { sessionId, response: { value: { no: 'text' } } });
  expect(wrong.result).toMatchObject({ accepted: false, validation: { valid: false, error: expect.any(String) } });
  const again = await wire.find('the prompt again', ({ params }) => 'error' in Object(params?.prompt));
  expect(again.params).toMatchObject({ sessionId, prompt: { message: 'Which city?' } });
  const state = await wire.request('interaction.getState', { sessionId });
  expect(state.result).toMatchObject({ state: 'waiting_user', metadata: { toolName: 'ask' }, history: [] });
  expect((await wire.request('interaction.cancel', { sessionId })).result).toEqual({ cancelled: true });
  expect((await wire.request('interaction.respond', { sessionId, response: { value: 'x' } })).error?.code).toBe(-32006);
  expect((await wire.request('interaction.getState', { sessionId })).result).toMatchObject({ state: 'cancelled' });
  socket.close();
});

test('a session without an answer expires after a warning; its call is cancelled', async () => {
  await using behind = await bridge({ client: '2025-11-25', server: '2025-11-25', upstream: 'stdio' });
  const { wire, socket } = await socketWire(Number(new URL(behind.url).port));
  await wire.initialize();
  const { result } = await wire.request('interaction.start', { toolName: 'ask', timeout: 1500 });
  const { sessionId } = result as { sessionId: string };
  const warning = await wire.find('a warning', ({ method }) => method === 'interaction.timeoutWarning');
  expect(warning.params).toMatchObject({ sessionId, remainingMs: expect.any(Number) });
  const late = async () =>
    (await wire.request('interaction.respond', { sessionId, response: { value: 1 } })).error?.code;
  let code = await within('the expiry', wire.request('interaction.getState', { sessionId })).then(
    ({ error }) => error?.code,
  );
  while (code === undefined) code = (await wire.request('interaction.getState', { sessionId })).error?.code;
  expect([code, await late()]).toEqual([-32002, -32002]);
  socket.close();
});

test('a client that cancels ends the tool', async () => {
  await using behind = await bridge({ client: '2025-11-25', server: '2025-11-25', upstream: 'stdio' });
  await using client = await playing(behind, { revision: '2025-11-25' });
  const outcome = await client.run('ask', {}, { onPrompt: () => CANCEL });
  expect(outcome).toMatchObject({ cancelled: true, success: false });
});

test('a client that has declared MCP Flow and calls a tool is asked by prompts while it waits', async () => {
  await using behind = await bridge({ client: '2025-11-25', server: '2025-11-25', upstream: 'stdio' });
  const { wire, socket } = await socketWire(Number(new URL(behind.url).port));
  await wire.initialize('2025-11-25', { experimental: { mcpFlow: { interactive: true } } });
  const called = wire.call('ask-twice');
  for (const [message, value] of [
    ['First?', 'one'],
    ['Second?', 'two'],
  ]) {
    const prompt = await wire.find(`the prompt ${message}`, ({ params }) => {
      return (params?.prompt as { message?: string } | undefined)?.message === message;
    });
    const { sessionId } = prompt.params as { sessionId: string };
    const { result } = await wire.request('interaction.respond', { sessionId, response: { value } });
    expect(result).toMatchObject({ accepted: true });
  }
  expect((await within('the result', called)).result).toMatchObject({ content: [{ text: 'one two' }] });
  await wire.find('the end of the session', ({ method }) => method === 'interaction.complete');
  expect((await wire.call('echo', { text: 'hi' })).result).toMatchObject({ content: [{ text: 'hi' }] });
  socket.close();
});
