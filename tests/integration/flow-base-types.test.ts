// The base types of the MCP Flow document, as types and as values, against a real server.
import { expect, test } from 'vitest';
import { InteractionState, PromptType } from 'mcp-parley/flow';
import type { SessionId } from 'mcp-parley/flow';
import { connected, fixture } from '../helpers/fixture-server.ts';

test('the base types of the document are types and values', async () => {
  const client = await connected(fixture('flow-tools', ['--stdio']), { revision: '2025-11-25' });
  const started = await client.request('interaction.start', { toolName: 'greet' });
  const id: SessionId = String(started.sessionId);
  const state: InteractionState = InteractionState.WAITING_USER;
  const type: PromptType = PromptType.TEXT;
  const seen = await client.request('interaction.getState', { sessionId: id });
  expect(seen).toMatchObject({ sessionId: id, state, currentPrompt: { type } });
  expect(Object.values(InteractionState)).toHaveLength(7);
  expect(Object.values(PromptType)).toHaveLength(7);
  await client.close();
});
