import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../kernel/audit.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { testGateway } from '../../../testing/test-gateway.ts';
import { createLog } from '../../../kernel/base/log.ts';
import type { GatewayOptions } from '../../gateway.ts';
import { createGateway } from '../../gateway.ts';
import { callModern } from '../../../../tests/helpers/mcp-http.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import { InternalExchange } from '../../../kernel/internal-exchange.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { Target } from '../../../kernel/target.ts';
import { EventsLayer } from '../../events-layer.ts';
import { EventHub } from '../../../kernel/events/event-hub.ts';
import { toShape } from './argument-shape.ts';
import { AuditWatcher } from './audit-watcher.ts';
import { approve } from '../approve/approve.ts';

const log = createLog({ level: 'silent' });
const CLIENT = { info: { name: 'c', version: '1' }, principal: 'local' } as ClientView;

function files(name: string) {
  const server = createServer({ name, version: '1', log });
  server.tool('read', {}, () => 'fine');
  server.tool('fail', {}, () => {
    throw new Error('no such file');
  });
  return server;
}

async function recording(options: Partial<GatewayOptions> = {}) {
  const events: AuditEvent[] = [];
  const servers = { disk: files('disk'), net: files('net') };
  const tested = await testGateway({ servers, audit: (event) => events.push(event), ...options });
  return { events, ...tested };
}

/** A clock that stands until it is moved. */
function standingClock() {
  let now = 0;
  const waiting = new Map<() => void, number>();
  return {
    now: () => now,
    after(ms: number, callback: () => void) {
      waiting.set(callback, now + ms);
      return () => waiting.delete(callback);
    },
    move(ms: number) {
      now += ms;
      for (const [callback, at] of Array.from(waiting)) if (at <= now && waiting.delete(callback)) callback();
    },
  };
}

describe('a call that takes long', () => {
  it('is recorded before it ends, once, so that a killed process has not forgotten it', async () => {
    const events: AuditEvent[] = [];
    const clock = standingClock();
    let answer = (_: JsonObject): void => {};
    const target = { handle: () => new Promise<JsonObject>((resolve) => (answer = resolve)) } as unknown as Target;
    const hub = new EventHub({ clock, log });
    hub.watch(new AuditWatcher({ record: (event) => events.push(event) }));
    const layer = new EventsLayer(target, hub);
    const asked = new InternalExchange('tools/call', { name: 'slow' }, CLIENT, new AbortController().signal);
    const answered = layer.handle(asked);
    clock.move(4000);
    expect(events).toEqual([]);
    for (const ms of [2000, 5000, 5000]) clock.move(ms);
    expect(events).toMatchObject([{ kind: 'call', name: 'slow', outcome: 'running', exchange: asked.id }]);
    answer({ content: [] });
    await answered;
    clock.move(60_000);
    expect(events.slice(1)).toMatchObject([{ kind: 'call', name: 'slow', outcome: 'ok', ms: 16_000 }]);
  });
});

describe('logins', () => {
  it('are recorded when somebody calls for the first time, and not with every call', async () => {
    const events: AuditEvent[] = [];
    const keys = [{ name: 'laptop', user: 'ann', key: 'parley_the-key-of-ann-0123456789' }];
    const gateway = createGateway({
      servers: { disk: files('disk') },
      log,
      auth: { keys },
      audit: (one) => events.push(one),
    });
    const { url } = await gateway.listen({ port: 0 });
    const headers = { authorization: 'Bearer parley_the-key-of-ann-0123456789' };
    for (let index = 0; index < 3; index++) await callModern(url, 'disk__read', {}, headers);
    await gateway.close();
    const logins = events.filter(({ kind }) => kind === 'login');
    expect(logins).toEqual([{ kind: 'login', principal: 'key:ann', outcome: 'ok', details: { key: 'laptop' } }]);
    const calls = events.filter(({ kind }) => kind === 'call');
    expect(calls.map(({ details }) => details?.key)).toEqual(['laptop', 'laptop', 'laptop']);
  });
});

describe('calls', () => {
  it('are recorded with who, what, the outcome, the duration and the shape of the arguments', async () => {
    const { events, client, close } = await recording();
    await client.callTool('disk__read', { path: '/secret', deep: { a: 1 }, list: [1, 2], on: true, none: null });
    await client.callTool('net__fail').catch(() => {});
    await client.callTool('net__unknown').catch(() => {});
    await close();
    expect(events).toMatchObject([
      {
        kind: 'call',
        exchange: expect.any(String),
        principal: expect.stringMatching(/^(local|anonymous:transport:#[\w-]{12})$/),
        server: 'disk',
        method: 'tools/call',
        name: 'read',
        outcome: 'ok',
        ms: expect.any(Number),
        details: {
          as: 'disk__read',
          arguments: { path: 'string(7)', deep: 'object(1)', list: 'array(2)', on: 'boolean', none: 'null' },
        },
      },
      { server: 'net', name: 'fail', outcome: 'tool_error' },
      { server: 'net', name: 'unknown', outcome: 'TOOL_NOT_FOUND' },
    ]);
    expect(JSON.stringify(events)).not.toContain('/secret');
  });

  it('are recorded with the decision of a rule', async () => {
    const decision = { rule: 'rules[0]', effect: 'allow' } as const;
    const steps: GatewayOptions['steps'] = [
      (exchange, next) => {
        exchange.decision = decision;
        return next();
      },
    ];
    const { events, client, close } = await recording({ steps });
    await client.callTool('disk__read');
    await close();
    expect(events).toMatchObject([{ name: 'read', decision }]);
  });

  it('are recorded with what a person answered', async () => {
    const { events, client, close } = await recording({ steps: [approve({ when: 'always' })] });
    await client.callTool('disk__read').catch(() => {});
    await close();
    const [receipt] = events.filter(({ kind }) => kind === 'approval');
    const [call] = events.filter(({ kind }) => kind === 'call');
    expect(call).toMatchObject({ name: expect.stringContaining('read'), outcome: expect.any(String) });
    if (receipt) expect(receipt).toMatchObject({ outcome: expect.stringMatching(/given|refused/) });
  });
});

describe('the shape of arguments', () => {
  it('shows no value, and no name that may be one', () => {
    expect(toShape({ 'ann@example.com': 1, 'a b': 's', __proto: 2 })).toEqual({ '*': 'string(1)', __proto: 'number' });
    expect(toShape('whole')).toBe('string(5)');
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`a${index}`, index]));
    expect(toShape(many)).toMatchObject({ a19: 'number', '…': '5 more' });
    expect(Object.keys(toShape(JSON.parse('{"__proto__": {"x": 1}}')) as object)).toEqual(['*']);
  });
});
