// A server that knows no question but prompts of MCP Flow, called by clients that do not speak Flow: each prompt reaches the person by
// a channel that the client supports, and the end of the session is the result of the call.
import { expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import type { Client, ConnectOptions, GatewayOptions } from 'mcp-parley';
import { connectFlows } from 'mcp-parley/flow';
import { connected, fixture, textOf } from '../helpers/fixture-server.ts';
import { until, within } from '../helpers/until.ts';

const QUIET = createLog({ level: 'silent' });
const TRIP: Record<string, unknown> = {
  'Where to?': 'Oslo',
  'How long?': 3,
  'Seat?': '2',
  'When?': '2027-01-02',
  'Sure?': true,
};
const DONE = { city: 'Oslo', days: 3, seat: 2, start: '2027-01-02', ok: true };

async function serving(options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({ servers: { flow: fixture('flow-only') }, log: QUIET, startMs: 60_000, ...options });
  const { url } = await gateway.listen({ port: 0 });
  const clients: Client[] = [];
  return {
    url,
    async connect(more: ConnectOptions): Promise<Client> {
      const client = await connected(url, more);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
      await within('the gateway to close', gateway.close());
    },
  };
}

/** A user who answers by the question. */
function filling(answers: Record<string, unknown>, asked: string[] = []): NonNullable<ConnectOptions['onElicit']> {
  return ({ message }) => {
    asked.push(message);
    return { action: 'accept', content: { answer: answers[message.split('\n').at(-1)!] as string } };
  };
}

test.each(['2025-06-18', '2025-11-25', '2026-07-28'])('a client of %s is asked by forms', async (revision) => {
  await using gateway = await serving();
  const asked: string[] = [];
  const client = await gateway.connect({ revision, onElicit: filling(TRIP, asked) });
  const result = await within('the call', client.callTool('trip', {}));
  expect(result).toMatchObject({ structuredContent: DONE });
  expect(result.isError).toBeUndefined();
  expect(asked).toEqual(Object.keys(TRIP));
  asked.length = 0;
  await client.callTool('trip', { city: 'Rome', days: 1, seat: 1, start: '2027-01-02' });
  expect(asked).toEqual(['Sure?']);
  expect(await textOf(client, 'plain')).toBe('called');
});

test('an answer that the server refuses is asked for again, with the reason', async () => {
  await using gateway = await serving();
  const asked: string[] = [];
  const good = filling({ ...TRIP }, asked);
  const client = await gateway.connect({
    onElicit: (request, context) =>
      asked.length === 0
        ? (asked.push(request.message), { action: 'accept', content: { answer: '' } })
        : good(request, context),
  });
  expect(await within('the call', client.callTool('trip', {}))).toMatchObject({ structuredContent: DONE });
  expect(asked.slice(0, 2)).toEqual(['Where to?', 'Too short\nWhere to?']);
});

test('who declines, or gives up the call, ends the session', async () => {
  await using gateway = await serving();
  const declining = await gateway.connect({ onElicit: () => ({ action: 'decline' }) });
  const declined = await within('the call', declining.callTool('greet', {}));
  expect(declined).toMatchObject({ isError: true });
  const controller = new AbortController();
  const leaving = await gateway.connect({ revision: '2025-11-25', onElicit: filling({ 'Your name?': 'Ada' }) });
  const slow = leaving.callTool('slow', {}, { signal: controller.signal }).catch((error: unknown) => error);
  await until('the session', async () => (await textOf(leaving, 'open')) === '1');
  controller.abort();
  await slow;
  await until('its end', async () => (await textOf(leaving, 'open')) === '0');
});

test('a client that cannot be asked gets the question as text, and answers with a tool', async () => {
  await using gateway = await serving();
  const client = await gateway.connect({ revision: '2025-11-25' });
  const first = await within('the question', client.callTool('greet', {}));
  const text = (first.content[0] as { text: string }).text;
  expect(text).toContain('Your name?');
  const { 'mcp-parley/handle': handle } = first._meta as { 'mcp-parley/handle': string };
  const result = await within('the result', client.callTool('parley_answer', { handle, answer: { answer: 'Ada' } }));
  expect(result).toMatchObject({ structuredContent: { name: 'Ada' } });
});

test('a client that speaks Flow has the server’s own prompts', async () => {
  await using gateway = await serving();
  await using client = await connectFlows(gateway.url, { log: QUIET, revision: '2025-11-25' });
  const prompts: unknown[] = [];
  const answers = Object.values({ ...TRIP, 'Seat?': 2 });
  const onPrompt = (prompt: unknown) => (prompts.push(prompt), answers[prompts.length - 1]);
  const outcome = await within('the flow', client.run('trip', {}, { onPrompt }));
  expect(outcome).toMatchObject({ success: true, result: DONE, summary: JSON.stringify(DONE) });
  expect(prompts[2]).toEqual({
    type: 'choice',
    message: 'Seat?',
    choices: [
      { value: 1, label: 'Aisle' },
      { value: 2, label: 'Window' },
    ],
  });
  const plain = await client.run('plain', {}, { onPrompt });
  expect(plain).toMatchObject({ success: true, summary: 'called' });
});
