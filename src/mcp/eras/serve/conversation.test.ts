import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { answerOf, converse, settled } from '../fake-context.contract.ts';

const never = () => new Promise<never>(() => {});

describe('before initialize', () => {
  it('a ping is answered, anything else is refused as not initialized', async () => {
    const { call } = converse();
    expect(answerOf(call(1, 'ping'))).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    const refused = call(2, 'tools/list');
    expect(answerOf(refused)).toMatchObject({ id: 2, error: { code: -32600, message: 'Invalid Request' } });
    expect(answerOf(refused).error!.data).toContain('Not initialized');
    expect(refused.status).toBe(400);
    await settled();
  });

  it('the capabilities request reaches the target', () => {
    const { call, target } = converse(() => ({ interactive: true }));
    expect(answerOf(call(1, 'capabilities')).result).toEqual({ interactive: true });
    expect(target.seen[0]!.method).toBe('capabilities');
  });

  it('notifications and answers are ignored, and have no answer', () => {
    const { tell, put, context } = converse();
    for (const method of ['notifications/cancelled', 'exit', 'cancel', 'whatever'])
      expect(tell(method).ends).toEqual([undefined]);
    expect(put({ jsonrpc: '2.0', id: 7, result: {} }).ends).toEqual([undefined]);
    expect(context.lines.join()).toContain('answer.unexpected');
  });

  it.each([
    [{}, 'Required parameter missing'],
    [{ protocolVersion: 7 }, 'Must be a string'],
    [{ protocolVersion: null, mcpVersion: 2 }, 'Must be a string'],
  ])('initialize with %j names the wrong parameter', (params, error) => {
    const { call } = converse();
    const outlet = call(1, 'initialize', params);
    expect(answerOf(outlet)).toMatchObject({
      id: 1,
      error: { code: -32602, data: { parameter: 'protocolVersion', error } },
    });
  });

  it.each(['capabilities', 'clientInfo'])(
    'initialize with a malformed %s is refused, and may be tried again',
    (name) => {
      const { call, conversation } = converse();
      expect(answerOf(call(1, 'initialize', { protocolVersion: '2025-11-25', [name]: [] })).error).toMatchObject({
        code: -32602,
        data: { parameter: name, error: 'Must be an object' },
      });
      expect(conversation.dialect).toBeUndefined();
      expect(answerOf(call(2, 'initialize', { protocolVersion: '2025-11-25' })).result).toBeDefined();
    },
  );
});

describe('an introduction is kept, so its size is limited', () => {
  const long = 'x'.repeat(70_000);
  it.each([
    ['clientInfo', { protocolVersion: '2025-11-25', clientInfo: { name: long, version: '1' } }],
    ['clientInfo', { protocolVersion: '2025-11-25', clientInfo: { name: 'a', version: '1', more: { deep: [long] } } }],
    ['clientInfo', { mcpVersion: '2025-06-18', clientInfo: { name: long, version: '1' } }],
    ['params', { protocolVersion: '2025-11-25', other: long }],
    ['params', { protocolVersion: '2025-11-25', _meta: { 'com.example/x': long } }],
  ])('a large one is refused: %s', (parameter, params) => {
    const { call, conversation } = converse();
    expect(answerOf(call(1, 'initialize', params)).error).toMatchObject({
      code: -32602,
      data: { parameter, error: 'Must be at most 65536 bytes' },
    });
    expect(conversation.dialect).toBeUndefined();
  });

  it('one of a usual size is taken', () => {
    const clientInfo = { name: 'a', version: '1', icons: [{ src: `data:image/png;base64,${'A'.repeat(20_000)}` }] };
    expect(converse().open({ protocolVersion: '2025-11-25', clientInfo, other: 'x' }).result).toBeDefined();
  });
});

describe('initialize', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', 'DRAFT-2025-v3', '2025-11-25'])('echoes %s', (protocolVersion) => {
    expect(converse().open({ protocolVersion }).result!.protocolVersion).toBe(protocolVersion);
  });

  it.each(['1999-01-01', '2026-07-28', 'nonsense', ''])(
    'answers %j with the newest dated revision',
    (protocolVersion) => {
      expect(converse().open({ protocolVersion }).result!.protocolVersion).toBe('2025-11-25');
    },
  );

  it('a second one is refused and changes nothing', () => {
    const { open, call, conversation } = converse();
    open();
    const again = call(2, 'initialize', { protocolVersion: '2024-11-05' });
    expect(answerOf(again)).toMatchObject({ id: 2, error: { code: -32600, data: 'Already initialized' } });
    expect(conversation.dialect!.client.revision).toBe('2025-11-25');
  });

  it('with both versions is MCP, with mcpVersion alone the draft dialect', () => {
    const both = converse();
    both.open({ protocolVersion: '2025-06-18', mcpVersion: '2025-06-18' });
    expect(both.conversation.dialect!.client.dialect).toBe('handshake');
    const draft = converse();
    draft.open({ mcpVersion: '2025-06-18' });
    expect(draft.conversation.dialect!.client.dialect).toBe('draft');
  });

  it('names the only version of the draft dialect in the error', () => {
    expect(converse().open({ mcpVersion: '2030-01-01' }).error).toMatchObject({
      code: -32602,
      data: { supported: ['2025-06-18'], requested: '2030-01-01' },
    });
  });

  it('names the supported revisions if there is no handshake revision', () => {
    const { open } = converse(undefined, { revisions: ['2026-07-28'] });
    expect(open().error).toMatchObject({ code: -32602, data: { supported: ['2026-07-28'], requested: '2025-11-25' } });
  });
});

describe('requests in flight', () => {
  it('the same id is refused while it is in flight, and free afterwards', async () => {
    let finish!: (result: JsonObject) => void;
    const { open, call } = converse(() => new Promise((resolve) => (finish = resolve)));
    open();
    const first = call(1, 'tools/call', { name: 'x' });
    expect(answerOf(call(1, 'tools/call', { name: 'x' }))).toMatchObject({ id: 1, error: { code: -32600 } });
    finish({ content: [] });
    await first.answer();
    expect(call(1, 'ping').ends).toHaveLength(1);
    expect(answerOf(call(1, 'ping')).result).toEqual({});
  });

  it('the ids 1 and "1" are two requests', async () => {
    const { open, call, tell, target } = converse(never);
    open();
    const number = call(1, 'tools/call', { name: 'x' });
    const text = call('1', 'tools/call', { name: 'x' });
    tell('notifications/cancelled', { requestId: '1' });
    expect(target.seen.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    expect(number.ends).toHaveLength(0);
    expect(text.ends).toEqual([undefined]);
  });

  it('a request beyond the limit is refused and the others continue', () => {
    const { open, call } = converse(never, { limits: { maxInFlight: 2 } });
    open();
    call(1, 'tools/call');
    call(2, 'tools/call');
    const third = call(3, 'tools/call');
    expect(answerOf(third)).toMatchObject({ id: 3, error: { code: -32000, data: { limit: 'maxInFlight' } } });
    expect(third.status).toBe(429);
  });

  it('a failing target is reported as an internal error without details', async () => {
    const secrets = [new Error('at /etc/secret'), 'plain secret', { cyclic: undefined as unknown }];
    (secrets[2] as { cyclic: unknown }).cyclic = secrets[2];
    for (const thrown of secrets) {
      const sync = converse(() => {
        throw thrown;
      });
      sync.open();
      const late = converse(() => Promise.reject(thrown));
      late.open();
      for (const { call, context } of [sync, late]) {
        const answer = await call(1, 'tools/call').answer();
        expect(answer.error).toMatchObject({ code: -32603, message: 'Internal error' });
        expect(JSON.stringify(answer)).not.toContain('secret');
        expect(context.lines.join()).toContain((answer.error!.data as { exchange: string }).exchange);
      }
    }
  });

  it('closing cancels requests in flight and sends nothing more', async () => {
    let finish!: (result: JsonObject) => void;
    const { open, call, conversation, target, back } = converse(() => new Promise((resolve) => (finish = resolve)));
    open();
    const outlet = call(1, 'tools/call');
    conversation.close();
    expect(target.seen[0]!.signal.aborted).toBe(true);
    expect(target.watchers).toBe(0);
    finish({ content: [] });
    target.tell({ kind: 'tools' });
    target.seen[0]!.log({ level: 'error', data: 'late' });
    await settled();
    expect(outlet.ends).toEqual([undefined]);
    expect(outlet.sent).toEqual([]);
    expect(back).toEqual([]);
    expect(call(2, 'ping').ends).toEqual([]);
  });

  it('closing with a reason answers open requests with it', () => {
    const { open, call, conversation } = converse(never);
    open();
    const outlet = call('a', 'tools/call');
    conversation.close(new GatewayError('SESSION_NOT_FOUND'));
    expect(answerOf(outlet)).toMatchObject({ id: 'a', error: { code: -32001 } });
    expect(outlet.status).toBe(404);
  });
});

describe('cancellation', () => {
  it('a cancelled request is never answered, whatever its handler does later', async () => {
    let finish!: (result: JsonObject) => void;
    const { open, call, tell } = converse(() => new Promise((resolve) => (finish = resolve)));
    open();
    const outlet = call(1, 'tools/call');
    tell('notifications/cancelled', { requestId: 1, reason: 'changed my mind' });
    finish({ content: [] });
    await settled();
    expect(outlet.ends).toEqual([undefined]);
  });

  it.each([[{}], [{ requestId: 99 }], [{ requestId: null }], [{ requestId: {} }], [undefined]])(
    'naming no request in flight (%j) changes nothing',
    (params) => {
      const { open, call, tell, target } = converse(never);
      open();
      call(1, 'tools/call');
      tell('notifications/cancelled', params);
      expect(target.seen[0]!.signal.aborted).toBe(false);
    },
  );

  it('in the draft dialect the cancelled request is answered as such, once', async () => {
    const { open, call, tell } = converse(never);
    open({ mcpVersion: '2025-06-18', clientCapabilities: { supportsCancellation: true } });
    const outlet = call(1, 'tools/invoke', { name: 'x' });
    tell('cancel', { id: 1 });
    tell('cancel', { id: 1 });
    expect(outlet.ends).toEqual([{ jsonrpc: '2.0', id: 1, result: { status: 'cancelled' } }]);
    const other = call(2, 'tools/invoke', { name: 'x' });
    expect(answerOf(call(3, 'cancel', { id: 2 })).result).toEqual({ cancelled: true });
    expect(answerOf(other).result).toEqual({ status: 'cancelled' });
  });

  it('in the draft dialect a client that declared no cancellation cannot cancel', () => {
    const { open, call, tell } = converse(never);
    open({ mcpVersion: '2025-06-18' });
    const outlet = call(1, 'tools/invoke', { name: 'x' });
    tell('cancel', { id: 1 });
    expect(outlet.ends).toEqual([]);
  });
});

describe('changes', () => {
  it('are sent only after initialize, and log messages only at the chosen level', () => {
    const { target, back, open, call } = converse();
    target.tell({ kind: 'tools' });
    expect(back).toEqual([]);
    open();
    target.tell({ kind: 'tools' });
    target.tell({ kind: 'log', entry: { level: 'debug', data: 1 } });
    target.tell({ kind: 'log', entry: { level: 'info', data: 2 } });
    call(1, 'logging/setLevel', { level: 'error' });
    target.tell({ kind: 'log', entry: { level: 'warning', data: 3 } });
    target.tell({ kind: 'log', entry: { level: 'error', data: 4 } });
    expect(back.map((one) => (one as { params?: { data?: number } }).params?.data)).toEqual([undefined, 2, 4]);
  });

  it.each([
    [{}, 'Required parameter missing'],
    [{ level: 'loud' }, 'Unknown log level'],
    [{ level: 7 }, 'Unknown log level'],
  ])('logging/setLevel with %j is refused', async (params, error) => {
    const { open, call } = converse();
    open();
    const answer = await call(1, 'logging/setLevel', params).answer();
    expect(answer.error).toMatchObject({ code: -32602, data: { parameter: 'level', error } });
  });

  it('do not include the tasks of other principals', () => {
    const { target, back, open } = converse();
    open();
    const task = { taskId: 't', status: 'working', createdAt: '', lastUpdatedAt: '', ttlMs: 1 } as const;
    target.tell({ kind: 'task', task, principal: 'somebody' });
    target.tell({ kind: 'task', task, principal: 'me' });
    expect(back).toHaveLength(1);
  });

  it('of a resource reach its subscribers until they unsubscribe', async () => {
    const { target, back, open, call } = converse(() => ({}));
    open();
    target.tell({ kind: 'resource', uri: 'a:' });
    await call(1, 'resources/subscribe', { uri: 'a:' }).answer();
    target.tell({ kind: 'resource', uri: 'a:' });
    target.tell({ kind: 'resource', uri: 'b:' });
    await call(2, 'resources/unsubscribe', { uri: 'a:' }).answer();
    target.tell({ kind: 'resource', uri: 'a:' });
    expect(back).toEqual([{ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:' } }]);
  });
});

describe('the end of a draft connection', () => {
  it('refuses everything after shutdown, and exits with 0', () => {
    const { open, call, tell, exits } = converse();
    open({ mcpVersion: '2025-06-18' });
    expect(answerOf(call(1, 'shutdown'))).toEqual({ jsonrpc: '2.0', id: 1, result: null });
    expect(answerOf(call(2, 'tools/list')).error!.code).toBe(-32600);
    expect(answerOf(call(3, 'ping')).error!.code).toBe(-32600);
    tell('exit');
    expect(exits).toEqual([0]);
  });

  it('exits with 1 without shutdown; MCP has neither request', () => {
    const draft = converse();
    draft.open({ mcpVersion: '2025-06-18' });
    draft.tell('exit');
    expect(draft.exits).toEqual([1]);
    const { open, call, tell, exits } = converse();
    open();
    expect(answerOf(call(1, 'shutdown')).error).toMatchObject({ code: -32601, data: 'Unknown method: shutdown' });
    tell('exit');
    expect(exits).toEqual([]);
  });
});
