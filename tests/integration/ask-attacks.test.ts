// What somebody might try with the handle of a question, or with the state of a call that waits.
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import type { Client, Gateway, GatewayOptions } from 'mcp-parley';
import { connected } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import { modern } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

const open: Gateway[] = [];
afterEach(async () => {
  for (const gateway of open.splice(0)) await gateway.close();
});

let reached: string[] = [];

async function listen(options: Partial<GatewayOptions> = {}): Promise<string> {
  reached = [];
  const desk = createServer({ name: 'desk', version: '1' });
  for (const name of ['pay', 'give']) {
    desk.tool(name, {}, async (_, call) => {
      const { action } = await call.ask.elicit({ message: 'Really?', schema: { ok: { type: 'boolean' } } });
      reached.push(`${name} ${action}`);
      return `${name} ${action}`;
    });
  }
  const ask = { channels: ['relay' as const] };
  const gateway = createGateway({ servers: { desk }, log: createLog({ level: 'silent' }), ask, ...options });
  open.push(gateway);
  return (await gateway.listen({ port: 0 })).url;
}

async function told(client: Client, tool: string, args = {}) {
  const result = await client.callTool(tool, args);
  const [block] = result.content;
  return {
    text: block?.type === 'text' ? block.text : '',
    isError: result.isError === true,
    handle: (result._meta as Record<string, string> | undefined)?.['mcp-parley/handle'] ?? '',
  };
}

describe('the handle of a question', () => {
  test('altered or made up opens nothing, and the question still waits', async () => {
    await using client = await connected(await listen(), { revision: '2025-11-25' });
    const { handle } = await told(client, 'pay');
    const altered = handle.slice(0, -1) + (handle.endsWith('A') ? 'B' : 'A');
    for (const wrong of [altered, 'ask_AAAAAAAAAAAAAAAAAAAAAA', '', '__proto__']) {
      const refused = await told(client, 'parley_answer', { handle: wrong, answer: { ok: true } });
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('unknown') });
    }
    expect(reached).toEqual([]);
    expect(await told(client, 'parley_answer', { handle, answer: { ok: true } })).toMatchObject({ text: 'pay accept' });
  });

  test('shown again opens nothing, and the tool acts once', async () => {
    await using client = await connected(await listen(), { revision: '2025-11-25' });
    const { handle } = await told(client, 'pay');
    await told(client, 'parley_answer', { handle, answer: { ok: true } });
    const again = await told(client, 'parley_answer', { handle, answer: { ok: true } });
    expect(again).toMatchObject({ isError: true, text: expect.stringContaining('may already have acted') });
    expect(reached).toEqual(['pay accept']);
  });

  test('two answers at once: one is taken', async () => {
    await using client = await connected(await listen(), { revision: '2025-11-25' });
    const { handle } = await told(client, 'pay');
    const answers = [{ answer: { ok: true } }, { decline: true }].map((given) =>
      told(client, 'parley_answer', { handle, ...given }),
    );
    const both = await Promise.all(answers);
    expect(both.filter(({ isError }) => isError)).toHaveLength(1);
    expect(reached).toHaveLength(1);
  });

  test('after its time opens nothing; the call has been cancelled', async () => {
    await using client = await connected(await listen({ limits: { parkedMs: 50 } }), { revision: '2025-11-25' });
    const { handle } = await told(client, 'pay');
    // One that waits for the page is told as soon as there is nothing more to wait for.
    expect(await told(client, 'parley_answer', { handle })).toMatchObject({
      isError: true,
      text: expect.stringContaining('has expired'),
    });
    expect(reached).toEqual([]);
  });
});

test('giving up while waiting for the answer cancels the call', async () => {
  const hanging = createServer({ name: 'hanging', version: '1' });
  const seen = { answered: false, aborted: false };
  hanging.tool('hang', {}, async (_, call) => {
    await call.ask.elicit({ message: 'Go on?', schema: { ok: { type: 'boolean' } } });
    seen.answered = true;
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
    seen.aborted = true;
    return 'never read';
  });
  const behind = await hanging.listen({ port: 0 });
  try {
    const servers = { hanging: { server: behind.url, revision: '2025-11-25' } };
    await using client = await connected(await listen({ servers }), { revision: '2025-11-25' });
    const { handle } = await told(client, 'hang');
    const giveUp = new AbortController();
    const coming = client.callTool('parley_answer', { handle, answer: { ok: true } }, { signal: giveUp.signal });
    await until('the answer to arrive', () => seen.answered);
    giveUp.abort();
    await expect(coming).rejects.toThrow();
    await until('the server to hear of it', () => seen.aborted);
  } finally {
    await hanging.close();
  }
});

describe('the state of a call that waits', () => {
  const can = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
  const call = (url: string, params: object) => send(url, modern('tools/call', { arguments: {}, ...params }, can));
  const inputResponses = { 'ask-1': { action: 'accept', content: { ok: true } } };

  async function state(url: string): Promise<string> {
    const { json } = await call(url, { name: 'pay' });
    return json.result!.requestState as string;
  }

  test('opens nothing for another tool or other arguments, nor altered', async () => {
    const url = await listen();
    const requestState = await state(url);
    const altered = requestState.slice(0, -2) + (requestState.endsWith('AA') ? 'BB' : 'AA');
    for (const params of [
      { name: 'give', requestState },
      { name: 'pay', arguments: { more: 1 }, requestState },
      { name: 'pay', requestState: altered },
    ]) {
      const { json } = await call(url, { ...params, inputResponses });
      expect(json.error).toMatchObject({ code: -32602 });
    }
    expect(reached).toEqual([]);
  });

  test('opens nothing for another principal', async () => {
    const identify: GatewayOptions['identify'] = ({ headers }) => String(headers['x-user'] ?? 'nobody');
    const url = await listen({ identify });
    const as = (user: string, params: object) => {
      const request = modern('tools/call', { name: 'pay', arguments: {}, ...params }, can);
      return send(url, { ...request, headers: { ...request.headers, 'x-user': user } });
    };
    const requestState = (await as('ann', {})).json.result!.requestState;
    expect((await as('eve', { requestState, inputResponses })).json.error).toMatchObject({ code: -32602 });
    expect(reached).toEqual([]);
    const own = await as('ann', { requestState, inputResponses });
    expect(JSON.stringify(own.json.result)).toContain('pay accept');
  });

  test('of another gateway opens only where the key is still known, and then says that the call is gone', async () => {
    const [OLD, NEW] = ['the key that is old', 'the key that is new'];
    const requestState = await state(await listen({ keys: [OLD] }));
    const rotated = await call(await listen({ keys: [NEW, OLD] }), { name: 'pay', requestState, inputResponses });
    expect(rotated.json.result).toMatchObject({ isError: true });
    const strange = await call(await listen({ keys: [NEW] }), { name: 'pay', requestState, inputResponses });
    expect(strange.json.error).toMatchObject({ code: -32602 });
  });
});
