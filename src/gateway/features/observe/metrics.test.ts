import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import type { Exchange } from '../../../kernel/exchange.ts';
import type { Handle, Target } from '../../../kernel/target.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { InternalExchange } from '../../../kernel/internal-exchange.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { EventHub } from '../../../kernel/events/event-hub.ts';
import { EventsLayer } from '../../events-layer.ts';
import { Metrics } from './metrics.ts';
import { parseMetrics } from '../../../kernel/base/parse-metrics.contract.ts';
import { UpstreamEvents } from './vitals.ts';

const CLIENT = {
  ...SPEAKING.handshake,
  revision: 'any',
  info: { name: 'test', version: '1' },
  capabilities: {},
  principal: 'p',
} as const;

const NOTHING = { servers: [], upstreams: new Map(), sessions: 0, listens: 0, parked: 0 };

function exchange(method: string, server?: string): Exchange {
  return Object.assign(new InternalExchange(method, {}, CLIENT), server && { server });
}

/** What watches a target, as the gateway has it watched. */
function around(metrics: Metrics, request: Exchange, handle: Handle, now = () => 0) {
  const hub = new EventHub({ log: createLog({ level: 'silent' }), clock: { now, after: () => () => {} } });
  hub.watch(metrics);
  return new EventsLayer({ handle } as Target, hub).handle(request);
}

function read(metrics: Metrics) {
  return parseMetrics(metrics.text().body);
}

describe('metrics', () => {
  it('count exchanges by method, server, client and outcome, whether they end at once or later', async () => {
    const metrics = new Metrics(() => NOTHING);
    await around(metrics, exchange('tools/list', 'files'), () => ({ tools: [] }));
    await around(metrics, exchange('tools/call', 'files'), async () => ({ content: [], isError: true }));
    const failing = [new GatewayError('UPSTREAM_CLOSED'), new GatewayError('CANCELLED'), new ProtocolError(-1, 'x')];
    for (const error of [...failing, new Error('bug')]) {
      const answer = around(metrics, exchange('tools/call', 'files'), () => Promise.reject(error));
      await expect(answer).rejects.toBe(error);
    }
    expect(() =>
      around(metrics, exchange('ping'), () => {
        throw failing[0]!;
      }),
    ).toThrow(failing[0]!);
    const { parley_exchanges_total: counted, parley_errors_total: errors } = read(metrics);
    expect(counted).toEqual({
      'client=handshake,method=ping,outcome=upstream_error,server=': 1,
      'client=handshake,method=tools/call,outcome=cancelled,server=files': 1,
      'client=handshake,method=tools/call,outcome=parley_error,server=files': 1,
      'client=handshake,method=tools/call,outcome=server_error,server=files': 1,
      'client=handshake,method=tools/call,outcome=tool_error,server=files': 1,
      'client=handshake,method=tools/call,outcome=upstream_error,server=files': 1,
      'client=handshake,method=tools/list,outcome=ok,server=files': 1,
    });
    expect(errors).toEqual({ 'code=CANCELLED': 1, 'code=INTERNAL': 1, 'code=UPSTREAM_CLOSED': 2, 'code=server': 1 });
  });

  it('measure how long an exchange takes', async () => {
    let now = 0;
    const metrics = new Metrics(() => NOTHING);
    const answer = around(
      metrics,
      exchange('tools/call', 'files'),
      async () => ({}),
      () => now,
    );
    now = 300;
    await answer;
    const { parley_exchange_duration_seconds_bucket: buckets, parley_exchange_duration_seconds_sum: sum } =
      read(metrics);
    expect(buckets).toMatchObject({
      'le=0.25,method=tools/call,server=files': 0,
      'le=0.5,method=tools/call,server=files': 1,
    });
    expect(sum).toEqual({ 'method=tools/call,server=files': 0.3 });
  });

  it('show what is in flight, and what the gateway knows of itself', async () => {
    const servers = [{ name: 'files', state: 'failing' }];
    const metrics = new Metrics(() => ({ ...NOTHING, servers, sessions: 3, listens: 2, parked: 1 }));
    let end = (_: JsonObject): void => {};
    const running = around(metrics, exchange('tools/call'), () => new Promise((resolve) => (end = resolve)));
    expect(read(metrics)).toMatchObject({
      parley_exchanges_in_flight: { '': 1 },
      parley_sessions: { '': 3 },
      parley_listen_streams: { '': 2 },
      parley_parked_calls: { '': 1 },
      parley_upstream_state: { 'server=files,state=failing': 1, 'server=files,state=ready': 0 },
    });
    servers.length = 0;
    end({});
    await running;
    const after = read(metrics);
    expect([after.parley_exchanges_in_flight, after.parley_upstream_state]).toEqual([{ '': 0 }, undefined]);
  });

  it('stay few, whatever clients call', async () => {
    const metrics = new Metrics(() => NOTHING);
    for (let i = 0; i < 3000; i++) await around(metrics, exchange(`made-up/${i}`), () => ({}));
    const { parley_exchanges_total: counted } = read(metrics);
    expect(counted).toEqual({ 'client=handshake,method=other,outcome=ok,server=': 3000 });
  });

  it('the metrics of two gateways are kept apart', async () => {
    const [one, two] = [new Metrics(() => NOTHING), new Metrics(() => NOTHING)];
    await around(one, exchange('ping'), () => ({}));
    expect(read(one).parley_exchanges_total).toBeDefined();
    expect(read(two).parley_exchanges_total).toBeUndefined();
  });
});

describe('what the log says about a server', () => {
  it('counts what was lost and what came back, also by children of the log, and is logged as before', () => {
    const lines: string[] = [];
    const events = new UpstreamEvents();
    const log = events.hear(createLog({ level: 'info', write: (line) => lines.push(line) }), 'files').child({ a: 1 });
    log.info({}, 'upstream.ready');
    log.warn({ reason: 'exit' }, 'upstream.lost');
    log.info({}, 'upstream.ready');
    log.info({}, 'upstream.ready');
    log.debug({}, 'else');
    log.error({}, 'else');
    expect(events.counts.get('files')).toEqual({ lost: 1, restarts: 1 });
    expect(lines.map((line) => (JSON.parse(line) as { level: string; a: number }).a)).toEqual([1, 1, 1, 1, 1]);
  });
});
