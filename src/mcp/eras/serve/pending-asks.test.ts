import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../kernel/exchange.ts';
import type { JsonObject, Message } from '../../../kernel/message.ts';
import { checkQuestions } from '../../../kernel/containers/open-questions.contract.ts';
import type { GatewayError } from '../../../kernel/base/errors.ts';
import { answerOf, converse, RecordingOutlet, request, settled } from '../fake-context.contract.ts';

const asks = {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
};

checkQuestions('to a client of the handshake era', () => {
  let asking!: Exchange;
  const { open, call, put, tell } = converse((exchange) => {
    asking = exchange;
    return new Promise(() => {});
  });
  open(asks);
  const outlet = call(1, 'tools/call');
  const closed = new Set<unknown>();
  return {
    ask: (ask, signal) => asking.ask(ask, signal),
    async shown() {
      await settled();
      const sent = outlet.sent as { id?: string; method: string; params: JsonObject }[];
      for (const { method, params } of sent) if (method === 'notifications/cancelled') closed.add(params.requestId);
      return sent.flatMap(({ id, params }) =>
        id === undefined || closed.has(id) ? [] : [{ key: id, message: String(params.message) }],
      );
    },
    answer(id, action) {
      put({ jsonrpc: '2.0', id, result: { action } });
      closed.add(id);
    },
    end: () => tell('notifications/cancelled', { requestId: 1 }),
  };
});

describe('questions to the client', () => {
  const elicit = { method: 'elicitation/create', params: { mode: 'form', message: 'Name?' } };

  it('resolve with the answer, and reject on an error or a non-object', async () => {
    const outcomes: unknown[] = [];
    const { open, call, put } = converse(async (exchange) => {
      for (let round = 0; round < 3; round++) {
        outcomes.push(await exchange.ask(elicit).catch((error: GatewayError) => error.code));
      }
      return { content: [] };
    });
    open(asks);
    const outlet = call(1, 'tools/call');
    const answers = [{ result: { action: 'accept' } }, { error: { code: -1, message: 'no' } }, { result: 'yes' }];
    for (const answer of answers) {
      await settled();
      put({ jsonrpc: '2.0', id: (outlet.sent.at(-1) as { id: string }).id, ...answer });
    }
    await outlet.answer();
    expect(outcomes).toEqual([{ action: 'accept' }, 'ASK_REFUSED', 'ASK_REFUSED']);
  });

  it('ignore and log a second answer and an unknown one', async () => {
    const { open, call, put, context } = converse(async (exchange) => exchange.ask(elicit));
    open(asks);
    const outlet = call(1, 'tools/call');
    const { id } = outlet.sent[0] as { id: string };
    put({ jsonrpc: '2.0', id: 'ask-zzz', result: { action: 'accept' } });
    put({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
    put({ jsonrpc: '2.0', id, result: { content: [] } });
    put({ jsonrpc: '2.0', id, result: { content: ['again'] } });
    expect((await outlet.answer()).result).toEqual({ content: [] });
    expect(context.lines.filter((line) => line.includes('answer.unexpected'))).toHaveLength(3);
  });

  it('are held back until the client has confirmed its initialization', async () => {
    const { call, tell } = converse(async (exchange) => exchange.ask(elicit));
    call('init', 'initialize', asks);
    const outlet = call(1, 'tools/call');
    await settled();
    expect(outlet.sent).toEqual([]);
    tell('notifications/initialized');
    expect(outlet.sent).toMatchObject([{ method: 'elicitation/create' }]);
  });

  it('are cancelled with their call, and the client is notified', async () => {
    const { open, call, tell } = converse(async (exchange) => exchange.ask(elicit));
    open(asks);
    const outlet = call(1, 'tools/call');
    const { id } = outlet.sent[0] as { id: string };
    tell('notifications/cancelled', { requestId: 1 });
    expect(outlet.sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } });
    await settled();
    expect(outlet.ends).toEqual([undefined]);
  });

  it('are cancelled when the handler ends without waiting for the answer', async () => {
    const { open, call, put, context } = converse((exchange) => {
      exchange.ask(elicit).catch(() => {});
      return { content: [] };
    });
    open(asks);
    const outlet = call(1, 'tools/call');
    const [question, calledOff] = outlet.sent as { id: string; method: string }[];
    expect(calledOff).toMatchObject({ method: 'notifications/cancelled', params: { requestId: question!.id } });
    put({ jsonrpc: '2.0', id: question!.id, result: {} });
    expect(context.lines.join()).toContain('answer.unexpected');
  });

  it('fail once the client can no longer answer', async () => {
    const { open, call, conversation } = converse(async (exchange) => {
      await settled();
      return exchange.ask(elicit);
    });
    open(asks);
    const outlet = call(1, 'tools/call');
    conversation.endInput();
    expect((await outlet.answer()).error).toMatchObject({ message: 'Request cancelled' });
    expect(outlet.sent).toEqual([]);
  });

  it('are limited: of a silent client the oldest are dropped, and the newest can still be answered', async () => {
    const outcomes: unknown[] = [];
    const { open, call, put } = converse(async (exchange) => {
      const told = (answer: unknown) => void outcomes.push(answer);
      const all = Array.from({ length: 1030 }, () =>
        exchange.ask(elicit).then(told, (error: GatewayError) => told(error.code)),
      );
      await all.at(-1);
      return { content: [] };
    });
    open(asks);
    const outlet = call(1, 'tools/call');
    await settled();
    expect(outcomes).toEqual(Array(6).fill('CANCELLED'));
    put({ jsonrpc: '2.0', id: (outlet.sent.at(-1) as { id: string }).id, result: { action: 'accept' } });
    await outlet.answer();
    expect(outcomes[6]).toEqual({ action: 'accept' });
  });

  it('that JSON cannot express fail the ask, not the connection', async () => {
    class Strict extends RecordingOutlet {
      override send(message: Message): void {
        JSON.stringify(message);
        super.send(message);
      }
    }
    const { open, conversation, call } = converse(async (exchange) =>
      exchange.ask({ method: 'elicitation/create', params: { mode: 'form', big: 1n } }),
    );
    open(asks);
    const outlet = new Strict();
    conversation.receive(request(1, 'tools/call'), outlet);
    expect((await outlet.answer()).error!.code).toBe(-32603);
    expect(answerOf(call(2, 'ping')).result).toEqual({});
  });
});
