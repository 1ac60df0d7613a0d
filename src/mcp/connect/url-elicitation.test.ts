import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../eras/fake-views.contract.ts';
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { ProtocolError } from '../../kernel/base/errors.ts';
import { fakeCalls } from './fake-calls.contract.ts';
import { ServerCall } from '../../gateway/servers/server-call.ts';
import type { CallRules } from '../../gateway/servers/server-call.ts';

function withUrlsAsked(exchange: Exchange, call: () => Promise<JsonObject>, waited: (readonly string[])[] = []) {
  const rules = {
    completed: async (ids: readonly string[]) => void waited.push(ids),
    toError: (thrown: unknown) => thrown,
  } as unknown as CallRules;
  const calls = fakeCalls({ server: { ...SPEAKING.handshake }, callRaw: call });
  return new ServerCall(exchange, calls, { rules }).send();
}

const page = { mode: 'url', elicitationId: 'e', url: 'https://example.com', message: 'Log in' };
const other = { ...page, elicitationId: 'f', url: 'https://example.com/f' };
const required = () => new ProtocolError(-32042, 'Log in first', { elicitations: [page, other] });

function exchange(
  answer: JsonObject = { action: 'accept' },
  given: { method?: string; dialect?: 'handshake' | 'stateless'; capabilities?: JsonObject } = {},
) {
  const asked: unknown[] = [];
  const made = {
    method: given.method ?? 'tools/call',
    params: {},
    client: { ...SPEAKING[given.dialect ?? 'stateless'], capabilities: given.capabilities ?? {} } as ClientView,
    canAsk: () => true,
    async ask(ask: unknown) {
      asked.push(ask);
      return answer;
    },
  } as unknown as Exchange;
  return { made, asked };
}

describe('a call that needs its user to visit a page', () => {
  it('asks for all pages in one round, waits until they were visited, and is made again', async () => {
    const { made, asked } = exchange();
    let calls = 0;
    const waited: string[][] = [];
    const call = async () => {
      if (calls++ === 0) throw required();
      return { content: [] };
    };
    expect(await withUrlsAsked(made, call, waited)).toEqual({ content: [] });
    expect(asked).toEqual([
      { method: 'elicitation/create', params: page, key: 'url-1-0' },
      { method: 'elicitation/create', params: other, key: 'url-1-1' },
    ]);
    expect(waited).toEqual([['e', 'f']]);
  });

  it('asks for a page once, however often the server names it', async () => {
    const { made, asked } = exchange();
    let calls = 0;
    const waited: string[][] = [];
    const call = async () => {
      if (calls++ < 4)
        throw new ProtocolError(-32042, 'x', { elicitations: [{ ...page, elicitationId: `e${calls}` }] });
      return { content: [] };
    };
    expect(await withUrlsAsked(made, call, waited)).toEqual({ content: [] });
    expect(asked).toHaveLength(1);
    expect(waited).toHaveLength(4);
  });

  it('the call fails when the user refuses, and is not repeated', async () => {
    let calls = 0;
    const call = async () => {
      calls++;
      throw required();
    };
    expect(await withUrlsAsked(exchange({ action: 'decline' }).made, call)).toEqual({
      content: [{ type: 'text', text: 'Log in first (decline)' }],
      isError: true,
    });
    const reading = exchange({ action: 'cancel' }, { method: 'resources/read' });
    await expect(withUrlsAsked(reading.made, call)).rejects.toMatchObject({ code: 'ASK_REFUSED' });
    expect(calls).toBe(2);
  });

  it('the call is given up when the server never stops asking', async () => {
    const { made, asked } = exchange();
    const never = async () => {
      throw required();
    };
    await expect(withUrlsAsked(made, never)).rejects.toMatchObject({ code: -32042 });
    expect(asked).toHaveLength(2);
    let count = 0;
    const always = async () => {
      const one = { ...page, elicitationId: `e${count}`, url: `https://example.com/${count++}` };
      throw new ProtocolError(-32042, 'x', { elicitations: [one] });
    };
    const another = exchange();
    await expect(withUrlsAsked(another.made, always)).rejects.toMatchObject({ code: -32042 });
    expect(another.asked).toHaveLength(8);
  });

  it('is left to clients that know the error, and so are other errors', async () => {
    const capabilities = { elicitation: { url: {} } };
    const { made, asked } = exchange({}, { ...SPEAKING.handshake, capabilities });
    await expect(withUrlsAsked(made, () => Promise.reject(required()))).rejects.toMatchObject({ code: -32042 });
    for (const error of [new ProtocolError(-32042, 'no data'), new ProtocolError(-1, 'other'), new Error('other')]) {
      await expect(withUrlsAsked(exchange().made, () => Promise.reject(error))).rejects.toBe(error);
    }
    expect(asked).toEqual([]);
  });

  it('is a question to a handshake client that does not open pages itself', async () => {
    const { made, asked } = exchange(
      { action: 'accept' },
      { ...SPEAKING.handshake, capabilities: { elicitation: {} } },
    );
    let calls = 0;
    await withUrlsAsked(made, async () => {
      if (calls++ === 0) throw required();
      return { content: [] };
    });
    expect(asked).toHaveLength(2);
  });
});
