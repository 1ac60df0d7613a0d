import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../kernel/exchange.ts';
import type { JsonObject, Message } from '../../kernel/message.ts';
import { FakeTarget, enveloped, fakeContext, request, settled } from '../eras/fake-context.contract.ts';
import type { RecordedAnswer } from '../eras/fake-context.contract.ts';
import type { ServeContextOptions } from '../eras/serve/serve-context.ts';
import { META } from '../eras/meta.ts';
import { DuplexConnection } from './duplex-connection.ts';

type Handle = (exchange: Exchange) => JsonObject | Promise<JsonObject>;

function connect(handle?: Handle, options?: ServeContextOptions) {
  const target = new FakeTarget(handle);
  const context = fakeContext(target, options);
  const out: RecordedAnswer[] = [];
  const send = (message: Message | Message[]) => {
    out.push(JSON.parse(JSON.stringify(message)) as RecordedAnswer);
  };
  const principals = { handshake: 'me', stateless: 'local' };
  const connection = new DuplexConnection(context, { from: { transport: 'stdio' }, principals, send, exit: () => {} });
  const put = (message: unknown) => connection.receive(JSON.stringify(message));
  return { target, context, out, connection, put };
}

const initialize = request('init', 'initialize', { protocolVersion: '2025-03-26' });
const never = () => new Promise<never>(() => {});
const discover = enveloped('d', 'server/discover');

describe('two eras on one channel', () => {
  it('allow initialize after a discover', () => {
    const { put, out } = connect();
    put(discover);
    put(initialize);
    put(discover);
    expect(
      out.map((answer) => answer.result?.resultType ?? answer.result?.protocolVersion ?? answer.error?.code),
    ).toEqual(['complete', '2025-03-26', -32601]);
  });

  it('ignore a stateless envelope after initialize, because some clients send both', () => {
    const { put, out, target } = connect(() => ({ content: [] }));
    put(initialize);
    put(enveloped(1, 'tools/call', { name: 'x' }));
    expect(out[1]!.result).toEqual({ content: [] });
    expect(target.seen[0]!.client.dialect).toBe('handshake');
  });

  it('are all handshake if the server has no stateless revision', () => {
    const { put, out } = connect(undefined, { revisions: ['2025-11-25'] });
    put(discover);
    expect(out[0]).toMatchObject({ id: 'd', error: { code: -32600 } });
  });

  it('share the ids in flight', () => {
    const { put, out } = connect(never);
    put(enveloped('init', 'tools/call'));
    put(initialize);
    expect(out).toMatchObject([{ id: 'init', error: { code: -32600 } }]);
  });

  it('refuse a batch before initialize and one that mixes eras', () => {
    const { put, out } = connect();
    put([request(1, 'ping')]);
    put(initialize);
    put([request(1, 'ping'), enveloped(2, 'tools/list')]);
    put([initialize]);
    put([]);
    expect(out.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32600],
      ['init', undefined],
      [null, -32600],
      [null, -32600],
      [null, -32600],
    ]);
    put([request(1, 'ping'), { jsonrpc: '2.0', method: 'x' }, 7, request('1', 'ping')]);
    expect((out.at(-1) as unknown as RecordedAnswer[]).map(({ id }) => id)).toEqual([1, null, '1']);
  });
});

describe('requests of the stateless era on a channel', () => {
  it('refuse an id in flight, and accept it again after a cancellation', async () => {
    const finish: ((result: JsonObject) => void)[] = [];
    const { put, out, target } = connect(() => new Promise((resolve) => finish.push(resolve)));
    put(enveloped(1, 'tools/call'));
    put(enveloped(1, 'tools/call'));
    expect(out).toMatchObject([{ id: 1, error: { code: -32600 } }]);
    put({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: '1' } });
    expect(target.seen[0]!.signal.aborted).toBe(false);
    put({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(target.seen[0]!.signal.aborted).toBe(true);
    put(enveloped(1, 'tools/call'));
    finish[0]!({ content: [] });
    await settled();
    put(enveloped(1, 'tools/call'));
    expect(out).toHaveLength(2); // the second request with this id is still known to be in flight
    finish[1]!({ content: [] });
    await settled();
    expect(out.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } });
  });

  it('are limited in number', () => {
    const { put, out } = connect(never, { limits: { maxInFlight: 1 } });
    put(enveloped(1, 'tools/call'));
    put(enveloped(2, 'tools/call'));
    expect(out).toMatchObject([{ id: 2, error: { code: -32000 } }]);
  });

  it('send nothing more after they were answered with questions', async () => {
    const { put, out } = connect(async (exchange) => {
      const answer = exchange.ask({ method: 'roots/list' });
      await settled();
      exchange.progress({ progress: 1 });
      exchange.ask({ method: 'roots/list' }).catch(() => {});
      return answer;
    });
    put(enveloped(1, 'tools/call', {}, { progressToken: 1, [META.clientCapabilities]: { roots: {} } }));
    await settled();
    await settled();
    await settled();
    expect(out).toMatchObject([{ id: 1, result: { resultType: 'input_required' } }]);
  });
});

describe('the end of a connection', () => {
  it('waits for requests in flight, not for listen streams or questions', async () => {
    let finish!: (result: JsonObject) => void;
    const { put, connection, context } = connect(() => new Promise((resolve) => (finish = resolve)));
    put(enveloped(1, 'subscriptions/listen', { notifications: {} }));
    put(enveloped(2, 'tools/call'));
    let drained = false;
    const drain = connection.drain().then(() => (drained = true));
    await settled();
    expect([drained, context.listens.size]).toEqual([false, 0]);
    finish({ content: [] });
    await drain;
  });

  it('is immediate with only a listen stream', async () => {
    const { put, connection } = connect();
    put(enveloped(1, 'subscriptions/listen', { notifications: {} }));
    await connection.drain();
  });

  it('stops all receiving and sending', async () => {
    const { put, connection, out, target } = connect(never);
    put(enveloped(1, 'tools/call'));
    connection.close();
    put(enveloped(2, 'tools/call'));
    put(initialize);
    await settled();
    expect(out).toEqual([]);
    expect(target.seen.map(({ signal }) => signal.aborted)).toEqual([true]);
  });
});

describe('invalid input', () => {
  const methods = fc.oneof(
    fc.constantFrom(
      'tools/list',
      'tools/call',
      'resources/read',
      'prompts/get',
      'completion/complete',
      'ping',
      'initialize',
    ),
    fc.constantFrom(
      'logging/setLevel',
      'resources/subscribe',
      'tasks/get',
      'tasks/update',
      'tools/invoke',
      'server/discover',
    ),
    fc.string(),
  );
  const ids = fc.oneof(fc.integer(), fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }));
  const json = fc.jsonValue({ maxDepth: 3 });
  const params = fc.option(
    fc.dictionary(
      fc.oneof(
        fc.string(),
        fc.constantFrom('name', 'uri', '_meta', 'task', 'arguments', 'level', 'requestState', 'inputResponses'),
      ),
      json,
    ),
    { nil: undefined },
  );
  const modern = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: {} };
  const openings: Record<string, JsonObject | undefined> = {
    none: undefined,
    stateless: undefined,
    draft: { mcpVersion: '2025-06-18', clientCapabilities: { supportsProgress: true, supportsCancellation: true } },
    ...Object.fromEntries(
      ['2024-11-05', '2025-03-26', '2025-06-18', 'DRAFT-2025-v3', '2025-11-25'].map((protocolVersion) => [
        protocolVersion,
        { protocolVersion },
      ]),
    ),
  };

  it.each(Object.entries(openings))(
    'on a %s connection each request gets exactly one answer, under its own id',
    async (name, opening) => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(fc.record({ id: ids, method: methods, params }), {
            selector: ({ id }) => JSON.stringify(id),
            maxLength: 5,
          }),
          async (calls) => {
            const { put, out } = connect(async (exchange) => {
              exchange.progress({ progress: 1 });
              return exchange.params;
            });
            if (opening) put(request('\u0000opening', 'initialize', opening));
            out.length = 0;
            for (const call of calls) {
              const given =
                name === 'stateless'
                  ? { ...call.params, _meta: { ...modern, ...(call.params?._meta as object) } }
                  : call.params;
              put({ jsonrpc: '2.0', ...call, params: given });
            }
            await settled();
            const answers = out.filter((message) => !('method' in message));
            const wanted = calls.filter(({ method }) => name !== 'stateless' || method !== 'subscriptions/listen');
            expect(answers.map(({ id }) => JSON.stringify(id)).toSorted()).toEqual(
              wanted.map(({ id }) => JSON.stringify(id)).toSorted(),
            );
            for (const answer of answers) expect('result' in answer).not.toBe('error' in answer);
          },
        ),
        { numRuns: 60 },
      );
    },
  );

  it('is answered once, and the next message is served', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          json.map((value) => JSON.stringify(value)),
        ),
        (text) => {
          const { connection, put, out } = connect();
          connection.receive(text);
          expect(out.length).toBeLessThanOrEqual(1);
          for (const { error } of out) expect([-32700, -32600, -32602]).toContain(error!.code);
          put(request('after', 'ping'));
          expect(out.at(-1)).toEqual({ jsonrpc: '2.0', id: 'after', result: {} });
        },
      ),
    );
  });
});
