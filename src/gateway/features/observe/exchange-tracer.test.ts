import { InMemoryTransport } from '@modelcontextprotocol/client';
import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import type { TraceContext } from '../../../kernel/exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { createGateway } from '../../gateway.ts';
import type { GatewayOptions } from '../../gateway.ts';
import { registerFakeOtel } from './fake-otel.contract.ts';
import { InternalExchange } from '../../../kernel/internal-exchange.ts';
import { looseClient } from '../../../mcp/eras/own-clients.ts';
import { ExchangeTracer, toSpanContext } from './exchange-tracer.ts';

const log = createLog({ level: 'silent' });
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CAME = {
  traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`,
  tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
  baggage: 'userId=alice',
};

const noSpan = trace.wrapSpanContext({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 });

let otel: ReturnType<typeof registerFakeOtel> | undefined;
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  otel?.disable();
  otel = undefined;
  for (const close of closing.splice(0)) await close();
});

/** A gateway before two servers, the one called `far` over a wire; and what the servers were told. */
async function setUp(options: Partial<GatewayOptions> = {}, meta: JsonObject = {}) {
  const told: (TraceContext | undefined)[] = [];
  const serving = (name: string) => {
    const server = createServer({ name, version: '1', log });
    server.tool(`${name}_tool`, {}, (_, call) => (told.push(call.trace), 'fine'));
    server.tool(`${name}_fails`, {}, () => {
      throw new Error('no');
    });
    return server;
  };
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await serving('far').connect(theirs);
  const servers = { near: serving('near'), far: { server: ours } };
  const gateway = createGateway({ log, names: 'on-collision', servers, ...options });
  const [client, door] = InMemoryTransport.createLinkedPair();
  closing.push(() => gateway.close());
  await gateway.connect(door);
  return { told, ask: await speak(client, meta) };
}

/** A client by hand: what it sends is just what the test says. */
async function speak(client: InMemoryTransport, meta: JsonObject) {
  const waiting = new Map<unknown, (answer: unknown) => void>();
  client.onmessage = (message) => {
    if ('id' in message) waiting.get(message.id)?.(message);
  };
  await client.start();
  let id = 0;
  const ask = (method: string, params: object): Promise<{ result?: { isError?: boolean }; error?: { code: number } }> =>
    new Promise((resolve) => {
      waiting.set(++id, resolve as (answer: unknown) => void);
      void client.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } });
    });
  const clientInfo = { name: 'test', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return ask;
}

describe('spans', () => {
  it('spans are made for an exchange and for the call to its server, in the trace of the message', async () => {
    otel = registerFakeOtel();
    const { ask, told } = await setUp({}, CAME);
    await ask('tools/list', {});
    otel.spans.splice(0);
    await ask('tools/call', { name: 'far_tool', arguments: {} });
    const [served, called] = otel.spans;
    expect(otel.spans.map(({ name, kind, ended }) => ({ name, kind, ended }))).toEqual([
      { name: 'mcp tools/call far_tool', kind: SpanKind.SERVER, ended: 1 },
      { name: 'mcp tools/call far_tool', kind: SpanKind.CLIENT, ended: 1 },
    ]);
    expect(served!.parent).toMatchObject({ traceId: TRACE_ID, spanId: '00f067aa0ba902b7', isRemote: true });
    expect(called!.parent).toMatchObject({ traceId: TRACE_ID, spanId: served!.spanContext().spanId });
    expect(told).toEqual([{ ...CAME, traceparent: `00-${TRACE_ID}-${called!.spanContext().spanId}-01` }]);
  });

  it('spans have the attributes of the conventions, and no arguments', async () => {
    otel = registerFakeOtel();
    const { ask } = await setUp();
    await ask('tools/call', { name: 'near_tool', arguments: { secret: 's3cret' } });
    const served = otel.spans.find(({ kind }) => kind === SpanKind.SERVER)!;
    expect(served.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-11-25',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'near_tool',
      'parley.exchange': expect.any(String),
      'parley.server': 'near',
    });
    expect(JSON.stringify(otel.spans)).not.toContain('s3cret');
  });

  it('tell of a tool that failed, of a refusal, and of a step that broke', async () => {
    otel = registerFakeOtel();
    const steps = [
      (exchange: { method: string }) => {
        throw exchange.method === 'prompts/list'
          ? new Error('broken')
          : new GatewayError('ACCESS_DENIED', { uri: 'x' });
      },
    ].map((handle) => ({ name: 'strict', methods: ['prompts/list', 'resources/read'], handle }));
    const { ask } = await setUp({ steps });
    const typeAfter = async (method: string, params: object) => {
      otel!.spans.splice(0);
      await ask(method, params);
      const { attributes, status, ended } = otel!.spans.find(({ kind }) => kind === SpanKind.SERVER)!;
      expect([status?.code, ended]).toEqual([SpanStatusCode.ERROR, 1]);
      return attributes['error.type'];
    };
    expect(await typeAfter('tools/call', { name: 'far_fails' })).toBe('tool_error');
    expect(await typeAfter('tools/call', { name: 'nobody_has_it' })).toBe('TOOL_NOT_FOUND');
    expect(await typeAfter('resources/read', { uri: 'x:y' })).toBe('ACCESS_DENIED');
    expect(await typeAfter('prompts/list', {})).toBe('STEP_FAILED');
  });

  it('spans have the active span as parent where the message names none, and as a link where it does', async () => {
    otel = registerFakeOtel();
    const http = trace.getTracer('http').startSpan('POST /mcp');
    const within = (work: () => Promise<unknown>) => context.with(trace.setSpan(context.active(), http), work);
    const plain = await setUp();
    await within(() => plain.ask('tools/list', {}));
    const linked = await setUp({}, CAME);
    await within(() => linked.ask('tools/list', {}));
    const [first, second] = otel.spans.filter(({ kind }) => kind === SpanKind.SERVER);
    expect([first!.parent, first!.links]).toEqual([http.spanContext(), []]);
    expect([second!.parent!.traceId, second!.links]).toEqual([TRACE_ID, [http.spanContext()]]);
  });

  it('spans are not made when they are switched off', async () => {
    otel = registerFakeOtel();
    const { ask, told } = await setUp({ observe: { tracing: false } }, CAME);
    await ask('tools/call', { name: 'far_tool' });
    expect([otel.spans, told]).toEqual([[], [CAME]]);
  });
});

describe('without an SDK', () => {
  it.each([undefined, true])('the context of the message passes unchanged (tracing: %s)', async (tracing) => {
    const odd = { ...CAME, traceparent: `01-${TRACE_ID}-00f067aa0ba902b7-03-more` };
    const { ask, told } = await setUp({ observe: { tracing } }, odd);
    await ask('tools/call', { name: 'far_tool' });
    await ask('tools/call', { name: 'near_tool' });
    expect(told).toEqual([odd, odd]);
  });

  it('no trace context is invented', async () => {
    const { ask, told } = await setUp({ observe: { tracing: true } });
    await ask('tools/call', { name: 'far_tool' });
    expect(told).toEqual([undefined]);
  });
});

describe('an invalid traceparent', () => {
  it.each(['', 'nonsense', `ff-${TRACE_ID}-00f067aa0ba902b7-01`, `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`])(
    'is not a parent: %s',
    (traceparent) => expect(toSpanContext({ traceparent }, () => null as never)).toBeUndefined(),
  );
});

it('an SDK whose spans have no ids is logged once, and calls go on', async () => {
  const warned: unknown[] = [];
  const noted = {
    ...log,
    child: () => noted,
    warn: (about: unknown, event: string) => void warned.push([event, about]),
  };
  trace.setGlobalTracerProvider({
    getTracer: () => ({ startSpan: () => noSpan, startActiveSpan: () => undefined as never }),
  });
  closing.push(async () => trace.disable());
  const tracer = new ExchangeTracer(noted);
  const exchange = () => new InternalExchange('tools/list', {}, looseClient('c'));
  for (let times = 0; times < 2; times++)
    expect(await tracer.serve(exchange(), async () => ({ tools: [] }))).toEqual({ tools: [] });
  expect(warned).toMatchObject([['tracing.no-spans', { api: expect.stringMatching(/^1\./) }]]);
});
